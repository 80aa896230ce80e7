#include "report/words.h"
#include "core/text.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A unit that is scaled for reading: each step is taken while the value is at least its size. */
struct scale {
    double size;
    const char *name;
};
static const struct scale scale_time[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {0, "ns"}};
static const struct scale scale_rate[] = {
    {1e12, "TB/s"}, {1e9, "GB/s"}, {1e6, "MB/s"}, {1e3, "kB/s"}, {0, "B/s"}};

#define EXACT_MAX 9007199254740992.0 /* 2^53: whole numbers up to here are exact in a double */
#define DIGITS_MAX 60                /* room that a number may take in WORDS_BYTES */

static void pick(const struct scale *steps, double x, double *ret_divisor, const char **ret_name)
{
    while (steps->size > 0 && fabs(x) < steps->size)
        steps++;
    *ret_divisor = steps->size > 0 ? steps->size : 1;
    *ret_name = steps->name;
}

/* Puts commas between each three digits of the whole part. */
static void group(const char *plain, char *ret, size_t ret_bytes)
{
    size_t sign = plain[0] == '-', whole = strcspn(plain + sign, ".e"), n = 0;

    for (size_t i = 0; plain[i] && n + 2 < ret_bytes; i++) {
        size_t left = i >= sign && i < sign + whole ? sign + whole - i : 0;
        if (i > sign && left && left % 3 == 0)
            ret[n++] = ',';
        ret[n++] = plain[i];
    }
    ret[n] = '\0';
}

/* x to `decimals` places. */
static void fixed(double x, int decimals, char ret[DIGITS_MAX])
{
    char plain[DIGITS_MAX];

    if (fabs(x) >= 1e20 || !isfinite(x))
        snprintf(plain, sizeof(plain), "%.3e", x);
    else
        snprintf(plain, sizeof(plain), "%.*f", decimals, x);
    group(plain, ret, DIGITS_MAX);
}

/* Four significant digits, or exact if x is whole. */
static void significant(double x, char ret[DIGITS_MAX])
{
    if (!isfinite(x) || (x == floor(x) && fabs(x) <= EXACT_MAX)) {
        fixed(x, 0, ret);
        return;
    }
    int whole = x != 0 ? (int)floor(log10(fabs(x))) + 1 : 1;
    if (whole < -4) {
        snprintf(ret, DIGITS_MAX, "%.3e", x);
        return;
    }
    fixed(x, whole >= 4 ? 0 : 4 - whole, ret);
}

#define PLACES_MAX 6 /* decimals up to which a value and its error are written out */

/* "value" or "value ± error", the error to two digits and the value as far as the error goes. An
 * error that is far smaller than what can be read is written as a power of ten. */
static void with_error(double x, double error, char *ret, size_t ret_bytes)
{
    char value[DIGITS_MAX], spread[DIGITS_MAX];

    if (!(error > 0) || !isfinite(error)) {
        significant(x, value);
        snprintf(ret, ret_bytes, "%s", value);
        return;
    }
    int decimals = 1 - (int)floor(log10(error));
    if (decimals > PLACES_MAX) {
        significant(x, value);
        snprintf(spread, sizeof(spread), "%.1e", error);
    } else {
        fixed(x, decimals < 0 ? 0 : decimals, value);
        fixed(error, decimals < 0 ? 0 : decimals, spread);
    }
    snprintf(ret, ret_bytes, "%.40s ± %.40s", value, spread);
}

const char *words_real(double x, double error, const char *unit, char ret[WORDS_BYTES])
{
    const char *name = unit;
    double divisor = 1;
    char number[WORDS_BYTES - 42], scaled[24];

    if (isnan(x)) {
        snprintf(ret, WORDS_BYTES, "unknown");
        return ret;
    }
    if (!strcmp(unit, "ns") || !strcmp(unit, "ns/token")) {
        pick(scale_time, x, &divisor, &name);
        snprintf(scaled, sizeof(scaled), "%s%s", name, unit + 2);
        name = scaled;
    } else if (!strcmp(unit, "bytes/s")) {
        pick(scale_rate, x, &divisor, &name);
    } else if (!strcmp(unit, "bytes")) {
        name = "B";
    } else if (!strcmp(unit, "bytes/token")) {
        name = "B/token";
    } else if (!strcmp(unit, "ratio")) {
        name = "";
    }
    with_error(x / divisor, error / divisor, number, sizeof(number));
    if (!strcmp(unit, "x"))
        snprintf(ret, WORDS_BYTES, "%s×", number);
    else
        snprintf(ret, WORDS_BYTES, "%s%s%.40s", number, name[0] ? " " : "", name);
    return ret;
}

const char *words_percent(double ratio, double error, char ret[WORDS_BYTES])
{
    char number[WORDS_BYTES - 4];

    if (isnan(ratio)) {
        snprintf(ret, WORDS_BYTES, "unknown");
        return ret;
    }
    if (error > 0)
        with_error(ratio * 100, error * 100, number, sizeof(number));
    else
        fixed(ratio * 100, 2, number);
    snprintf(ret, WORDS_BYTES, "%s %%", number);
    return ret;
}

static const char *words_int(int64_t n, const char *unit, char ret[WORDS_BYTES])
{
    char plain[DIGITS_MAX], number[DIGITS_MAX], rounded[TEXT_NUMBER_BYTES];
    size_t unit_length = strlen(unit);

    snprintf(plain, sizeof(plain), "%" PRId64, n);
    group(plain, number, sizeof(number));
    if (!strcmp(unit, "bytes")) {
        if (n >= 1000)
            snprintf(ret, WORDS_BYTES, "%s (%s B)", text_bytes((uint64_t)n, rounded), number);
        else
            snprintf(ret, WORDS_BYTES, "%s B", number);
        return ret;
    }
    if (!strcmp(unit, "bytes/token")) {
        snprintf(ret, WORDS_BYTES, "%s B/token", number);
        return ret;
    }
    if (n == 1 && unit_length && unit[unit_length - 1] == 's') /* "1 layer" */
        unit_length--;
    snprintf(ret, WORDS_BYTES, "%s%s%.*s", number, unit_length ? " " : "",
             unit_length < 30 ? (int)unit_length : 30, unit);
    return ret;
}

const char *words_fact(const struct fact *f, char ret[WORDS_BYTES])
{
    const char *word = NULL;

    if (!f)
        word = "not recorded";
    else if (f->state == FACT_UNKNOWN)
        word = "unknown";
    else if (f->state == FACT_ABSENT)
        word = "none";
    else if (fact_type(f->key) == FACT_TEXT)
        return f->text ? f->text : "";
    else if (fact_type(f->key) == FACT_INT)
        return words_int(f->i, fact_unit(f->key), ret);
    else
        return words_real(f->x, f->error, fact_unit(f->key), ret);
    snprintf(ret, WORDS_BYTES, "%s", word);
    return ret;
}

#define WHOLE_MAX 9.2e18 /* below 2^63: converts to an integer */

const char *words_tokens(double tokens, char ret[WORDS_BYTES])
{
    char number[TEXT_NUMBER_BYTES];

    snprintf(ret, WORDS_BYTES, "%s",
             tokens >= 0 && tokens < WHOLE_MAX ? text_tokens((uint64_t)tokens, number) : "?");
    return ret;
}

const char *words_bytes(double bytes, char ret[WORDS_BYTES])
{
    char number[TEXT_NUMBER_BYTES];

    snprintf(ret, WORDS_BYTES, "%s",
             bytes >= 0 && bytes < WHOLE_MAX ? text_bytes((uint64_t)bytes, number) : "?");
    return ret;
}

const char *words_kind(const char *kind, char ret[WORDS_BYTES])
{
    static const char *const acronyms[] = {"kda", "mla", "gqa", "mha", "mqa",
                                           "dsa", "msa", "qsa", "rwkv"};
    size_t n = strcspn(kind, ".");

    snprintf(ret, WORDS_BYTES, "%s", kind);
    for (size_t i = 0; i < sizeof(acronyms) / sizeof(acronyms[0]); i++)
        if (n == strlen(acronyms[i]) && !strncmp(kind, acronyms[i], n))
            for (size_t k = 0; k < n; k++)
                ret[k] = (char)(kind[k] - 'a' + 'A');
    for (char *c = ret; *c; c++) /* ".window" and ".2" stand behind a kind */
        if (*c == '.')
            *c = ' ';
    return ret;
}

const char *words_backend(const char *name, char ret[WORDS_BYTES])
{
    static const char *const names[][2] = {
        {"vllm", "vLLM"}, {"sglang", "SGLang"}, {"trtllm", "TensorRT-LLM"}, {"ollama", "Ollama"}};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i][0]))
            name = names[i][1];
    snprintf(ret, WORDS_BYTES, "%s", name);
    return ret;
}
