#include "model/quant_scheme.h"
#include "core/json.h"
#include "core/text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- small readers */

static const char *text_or(const struct cJSON *obj, const char *key, const char *fallback)
{
    const char *s = fallback;
    json_text(json_get(obj, key), &s);
    return s;
}

static uint64_t u64_or(const struct cJSON *obj, const char *key, uint64_t fallback)
{
    uint64_t v = fallback;
    json_u64(json_get(obj, key), &v);
    return v;
}

static bool there(const struct cJSON *obj, const char *key)
{
    enum json_kind k = json_kind(json_get(obj, key));
    return k != JSON_MISSING && k != JSON_NULL;
}

static void unknown(char why[QUANT_WHY_BYTES], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static void unknown(char why[QUANT_WHY_BYTES], const char *fmt, ...)
{
    char raw[QUANT_WHY_BYTES];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(raw, sizeof raw, fmt, ap);
    va_end(ap);
    text_plain(raw, why, QUANT_WHY_BYTES);
}

/* The one rule of most methods: every Linear module has this format. */
static struct quant_scheme_rule *all_linear(struct quant_scheme *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static struct quant_scheme_rule *all_linear(struct quant_scheme *s, const char *fmt, ...)
{
    struct quant_scheme_rule *r = &s->rules[s->rule_count++];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->format, sizeof r->format, fmt, ap);
    va_end(ap);
    r->linear = true;
    return r;
}

/* --- compressed-tensors */

/* The format that the weights of a scheme are stored in, by the format's name and the arguments
 * (quantization/quant_args.py, compressors). */
static void ct_format(const struct cJSON *w, const char *format, struct quant_scheme_rule *r)
{
    uint64_t bits = u64_or(w, "num_bits", 8), group = u64_or(w, "group_size", 0), rows, cols;
    const char *type = text_or(w, "type", "int");
    const char *strategy = text_or(w, "strategy",
                                   group                    ? "group"
                                   : there(w, "group_size") ? "channel"
                                                            : "tensor");
    const char *base = !strcmp(type, "float") ? "fp8" : "int8";
    const struct cJSON *block = json_get(w, "block_structure");
    bool floats = !strcmp(type, "float");
    if (!strcmp(format, "dense")) {
        r->format[0] = '\0';
    } else if (!strcmp(format, "mxfp4-pack-quantized") && floats && bits == 4 && group == 32) {
        strcpy(r->format, "mxfp4-pack-quantized");
    } else if (!strcmp(format, "nvfp4-pack-quantized") && floats && bits == 4 && group == 16) {
        strcpy(r->format, "nvfp4-pack-quantized");
    } else if (!strcmp(format, "mxfp8-quantized") && floats && bits == 8 && group == 32) {
        strcpy(r->format, "mxfp8-quantized");
    } else if (!strcmp(format, "pack-quantized") && !floats && bits >= 2 && bits <= 8 &&
               (!strcmp(strategy, "channel") || (group && group <= 1u << 20))) {
        if (!strcmp(strategy, "channel"))
            snprintf(r->format, sizeof r->format, "pack-quantized-int%u-channel", (unsigned)bits);
        else
            snprintf(r->format, sizeof r->format, "pack-quantized-int%u-g%u", (unsigned)bits,
                     (unsigned)group);
    } else if ((!strcmp(format, "float-quantized") && floats && bits == 8) ||
               (!strcmp(format, "int-quantized") && !floats && bits == 8) ||
               (!strcmp(format, "naive-quantized") && bits == 8)) {
        if (!strcmp(strategy, "tensor") || !strcmp(strategy, "channel"))
            snprintf(r->format, sizeof r->format, "%s-%s", base, strategy);
        else if (!strcmp(strategy, "group") && group && group <= 1u << 20)
            snprintf(r->format, sizeof r->format, "%s-g%u", base, (unsigned)group);
        else if (!strcmp(strategy, "block") && json_count(block) == 2 &&
                 json_u64(json_first(block), &rows) &&
                 json_u64(json_next(json_first(block)), &cols) && rows && cols &&
                 rows <= 1u << 16 && cols <= 1u << 16)
            snprintf(r->format, sizeof r->format, "%s-block-%ux%u", base, (unsigned)rows,
                     (unsigned)cols);
        else
            unknown(r->why, "strategy %s of %s", strategy, format);
    } else {
        unknown(r->why, "format %s with %llu-bit %s weights in groups of %llu", format,
                (unsigned long long)bits, type, (unsigned long long)group);
    }
    if (r->why[0])
        strcpy(r->format, "unknown");
}

/* The format where none is written, in the library's order. */
static const char *ct_inferred(const struct cJSON *w)
{
    uint64_t bits = u64_or(w, "num_bits", 8), group = u64_or(w, "group_size", 0);
    bool floats = !strcmp(text_or(w, "type", "int"), "float");
    if (floats && bits == 4)
        return group == 32 ? "mxfp4-pack-quantized" : group == 16 ? "nvfp4-pack-quantized" : "";
    if (floats && bits == 8)
        return group == 32 ? "" : "float-quantized";
    return bits == 8 ? "int-quantized" : "pack-quantized";
}

static void compressed(struct quant_scheme *s, const struct cJSON *q)
{
    const char *global = text_or(q, "format", "");
    const struct cJSON *groups = json_get(q, "config_groups");
    s->ignore = quant_pattern_open(json_get(q, "ignore"), QUANT_PATTERN_EXACT);
    if (json_kind(groups) != JSON_OBJECT || !json_count(groups)) {
        unknown(s->unknown, "config_groups is %s", json_kind_name(json_kind(groups)));
        return;
    }
    for (const struct cJSON *g = json_first(groups); g; g = json_next(g)) {
        const struct cJSON *w = json_get(g, "weights"), *targets = json_get(g, "targets");
        if (s->rule_count == QUANT_SCHEME_RULES_MAX) {
            unknown(s->unknown, "config_groups has over %d groups", QUANT_SCHEME_RULES_MAX);
            return;
        }
        if (json_kind(g) != JSON_OBJECT) { /* the name of a preset, with its targets */
            unknown(s->unknown, "config_groups has the preset %s", json_key(g));
            return;
        }
        struct quant_scheme_rule *r = &s->rules[s->rule_count++];
        const char *name, *format = text_or(g, "format", global);
        for (const struct cJSON *t = json_first(targets); t; t = json_next(t))
            r->linear |= json_text(t, &name) && !strcmp(name, "Linear");
        r->targets = quant_pattern_open(targets, QUANT_PATTERN_EXACT);
        if (json_kind(w) == JSON_NULL || json_kind(w) == JSON_MISSING)
            continue; /* only activations: the weights stay as they are */
        if (!*format || !strcmp(format, "mixed-precision"))
            format = ct_inferred(w);
        ct_format(w, format, r);
    }
}

/* --- ModelOpt */

static const char *modelopt_format(const char *algo)
{
    static const char *const formats[][2] = {{"FP8", "fp8-tensor"},
                                             {"FP8_PB_WO", "fp8-block-128x128"},
                                             {"NVFP4", "modelopt-nvfp4"},
                                             {"W4A16_NVFP4", "modelopt-nvfp4"},
                                             {"W4A8_NVFP4_FP8", "modelopt-nvfp4"},
                                             {"MXFP8", "mxfp8-quantized"}};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(formats[i][0], algo))
            return formats[i][1];
    return "unknown";
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct quant_scheme_entry *)a)->name,
                  ((const struct quant_scheme_entry *)b)->name);
}

static bool room_for_entries(struct quant_scheme *s, const struct cJSON *list)
{
    size_t n = json_count(list);
    if (n > QUANT_SCHEME_ENTRIES_MAX) {
        unknown(s->unknown, "%zu modules named one by one, over the limit of %d", n,
                QUANT_SCHEME_ENTRIES_MAX);
        return false;
    }
    s->entries = mem_alloc(n ? n : 1, sizeof *s->entries);
    return true;
}

static void modelopt(struct quant_scheme *s, const struct cJSON *q)
{
    const char *algo = text_or(q, "quant_algo", "");
    const struct cJSON *layers = json_get(q, "quantized_layers");
    const struct cJSON *ignore =
        json_get(q, there(q, "exclude_modules") ? "exclude_modules" : "ignore");
    s->ignore = quant_pattern_open(ignore, QUANT_PATTERN_PARTS);
    if (there(q, "moe_quant_algo"))
        unknown(s->unknown, "quant_algo %s and moe_quant_algo together", algo);
    if (!strcmp(algo, "MIXED_PRECISION")) {
        if (json_kind(layers) != JSON_OBJECT)
            unknown(s->unknown, "MIXED_PRECISION without quantized_layers");
        else if (room_for_entries(s, layers))
            for (const struct cJSON *v = json_first(layers); v; v = json_next(v)) {
                struct quant_scheme_entry *x = &s->entries[s->entry_count++];
                x->name = json_key(v);
                strcpy(x->format, modelopt_format(text_or(v, "quant_algo", "")));
            }
        s->entries_only = true;
    } else {
        struct quant_scheme_rule *r = all_linear(s, "%s", modelopt_format(algo));
        if (!strcmp(r->format, "unknown"))
            unknown(r->why, "quant_algo \"%s\"", algo);
    }
    if (s->entry_count)
        qsort(s->entries, s->entry_count, sizeof *s->entries, by_name);
}

/* --- the others */

static void fp8(struct quant_scheme *s, const struct cJSON *q)
{
    static const char *const mixed[] = {"quant_algo", "moe_quant_algo", "quantized_layers",
                                        "expert_dtype", "store_dtype"};
    const struct cJSON *block = json_get(q, "weight_block_size");
    uint64_t rows, cols;
    s->ignore = quant_pattern_open(
        json_get(q, there(q, "ignored_layers") ? "ignored_layers" : "modules_to_not_convert"),
        QUANT_PATTERN_PARTS);
    s->head_plain = true;
    for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++)
        if (there(q, mixed[i]))
            unknown(s->unknown, "quant_method fp8 and %s together", mixed[i]);
    if (!there(q, "weight_block_size"))
        all_linear(s, "fp8-tensor");
    else if (json_count(block) == 2 && json_u64(json_first(block), &rows) &&
             json_u64(json_next(json_first(block)), &cols) && rows && cols && rows <= 1u << 16 &&
             cols <= 1u << 16)
        all_linear(s, "fp8-block-%ux%u", (unsigned)rows, (unsigned)cols);
    else
        unknown(s->unknown, "weight_block_size is no pair of sizes");
}

static void by_bits(struct quant_scheme *s, const struct cJSON *q, const char *method)
{
    uint64_t bits = u64_or(q, "bits", u64_or(q, "w_bit", 0));
    s->ignore = quant_pattern_open(json_get(q, "modules_to_not_convert"), QUANT_PATTERN_PARTS);
    s->head_plain = true;
    s->router_unsure = true;
    if (bits < 2 || bits > 8)
        unknown(s->unknown, "%s with %llu bits", method, (unsigned long long)bits);
    if (there(q, "dynamic") || there(q, "modules_in_block_to_quantize") ||
        there(q, "modules_to_convert"))
        unknown(s->unknown, "%s for some modules only", method);
    bool head = false;
    if (json_bool(json_get(q, "lm_head"), &head) && head)
        s->head_plain = false;
    all_linear(s, "%s-int%u", method, (unsigned)(bits & 15));
}

static void bitsandbytes(struct quant_scheme *s, const struct cJSON *q)
{
    bool four = false, eight = false;
    json_bool(json_get(q, "load_in_4bit"), &four);
    json_bool(json_get(q, "load_in_8bit"), &eight);
    s->ignore = quant_pattern_open(json_get(q, "llm_int8_skip_modules"), QUANT_PATTERN_PARTS);
    s->head_plain = !there(q, "llm_int8_skip_modules");
    if (four && !eight && !strcmp(text_or(q, "bnb_4bit_quant_type", "fp4"), "nf4"))
        all_linear(s, "bnb-nf4");
    else if (eight && !four)
        all_linear(s, "bnb-int8");
    else
        unknown(s->unknown, "bitsandbytes in a form other than nf4 and int8");
}

static const char *mlx_format(const struct cJSON *q, char ret[QUANT_NAME_BYTES])
{
    uint64_t bits = u64_or(q, "bits", 0), group = u64_or(q, "group_size", 0);
    const char *mode = text_or(q, "mode", "affine");
    bool affine = !strcmp(mode, "affine");
    bool fp = !strcmp(mode, "mxfp4") || !strcmp(mode, "nvfp4") || !strcmp(mode, "mxfp8");
    if (bits < 2 || bits > 8 || !group || group > 1u << 16 || (!affine && !fp))
        return "unknown";
    snprintf(ret, QUANT_NAME_BYTES, "mlx-%s%u-g%u", affine ? "int" : "fp", (unsigned)bits,
             (unsigned)group);
    return ret;
}

/* MLX quantises every module that can be, embeddings too; keys with a dot override one module, by
 * other numbers or by false. */
static void mlx(struct quant_scheme *s, const struct cJSON *q)
{
    char format[QUANT_NAME_BYTES];
    bool on;
    strcpy(s->method, "mlx");
    s->embedding_linear = true;
    struct quant_scheme_rule *r = all_linear(s, "%s", mlx_format(q, format));
    if (!strcmp(r->format, "unknown"))
        unknown(r->why, "mode %s", text_or(q, "mode", "affine"));
    if (!room_for_entries(s, q))
        return;
    for (const struct cJSON *v = json_first(q); v; v = json_next(v)) {
        if (json_kind(v) != JSON_OBJECT && json_kind(v) != JSON_BOOL)
            continue;
        struct quant_scheme_entry *x = &s->entries[s->entry_count++];
        x->name = json_key(v);
        if (json_kind(v) == JSON_OBJECT)
            strcpy(x->format, mlx_format(v, format));
        else if (json_bool(v, &on) && on)
            strcpy(x->format, r->format);
    }
    if (s->entry_count)
        qsort(s->entries, s->entry_count, sizeof *s->entries, by_name);
}

static void read_block(struct quant_scheme *s, const struct cJSON *q)
{
    const char *method = text_or(q, "quant_method", "");
    text_plain(method, s->method, sizeof s->method);
    if (!strcmp(method, "compressed-tensors") ||
        (!*method && !there(q, "quant_algo") && there(q, "config_groups"))) {
        snprintf(s->method, sizeof s->method, "compressed-tensors");
        compressed(s, q);
    } else if (!strcmp(method, "modelopt") || (!*method && there(q, "quant_algo"))) {
        snprintf(s->method, sizeof s->method, "modelopt");
        modelopt(s, q);
    } else if (!strcmp(method, "fp8")) {
        fp8(s, q);
    } else if (!strcmp(method, "gptq") || !strcmp(method, "awq")) {
        by_bits(s, q, method);
    } else if (!strcmp(method, "bitsandbytes")) {
        bitsandbytes(s, q);
    } else if (!strcmp(method, "mxfp4")) {
        s->ignore = quant_pattern_open(json_get(q, "modules_to_not_convert"), QUANT_PATTERN_PARTS);
        s->experts_only = true;
        all_linear(s, "mxfp4-blocks");
    } else if (!*method && there(q, "bits") && there(q, "group_size")) {
        mlx(s, q);
    } else {
        if (!*method)
            snprintf(s->method, sizeof s->method, "unnamed");
        unknown(s->unknown, "quant_method \"%s\"", method);
    }
}

int quant_scheme_init(struct quant_scheme *s, const struct cJSON *root, const struct cJSON *text,
                      const struct cJSON *hf_quant, struct err *e)
{
    *s = (struct quant_scheme){.where = "config.json"};
    const struct {
        const struct cJSON *in;
        const char *key, *where;
    } places[] = {
        {root, "quantization_config", "quantization_config"},
        {text != root ? text : NULL, "quantization_config", "text_config.quantization_config"},
        {root, "compression_config", "compression_config"},
        {hf_quant, "quantization", "hf_quant_config.json"},
        {root, "quantization", "quantization"},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const struct cJSON *q = json_get(places[i].in, places[i].key);
        enum json_kind kind = json_kind(q);
        if (kind == JSON_MISSING || kind == JSON_NULL)
            continue;
        if (kind != JSON_OBJECT)
            return err_set(e, ERR_FORMAT, "%s is %s, not an object", places[i].where,
                           json_kind_name(kind));
        s->where = places[i].where;
        read_block(s, q);
        return 0;
    }
    return 0;
}

void quant_scheme_release(struct quant_scheme *s)
{
    for (size_t i = 0; i < s->rule_count; i++)
        quant_pattern_close(s->rules[i].targets);
    quant_pattern_close(s->ignore);
    free(s->entries);
    *s = (struct quant_scheme){.where = ""};
}
