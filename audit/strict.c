#include "audit/strict.h"
#include "core/json.h"
#include "core/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define WORD_MAX 48

/* Levenshtein distance; 99 for words too long to be a slip of the pen. */
static unsigned distance(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b);
    unsigned row[WORD_MAX + 1];

    if (na > WORD_MAX || nb > WORD_MAX)
        return 99;
    for (size_t j = 0; j <= nb; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[nb];
}

/* True if one of the two words starts with the other, and both say something: "context" for
 * "context_lengths". */
static bool starts_alike(const char *a, const char *b)
{
    size_t na = strlen(a), nb = strlen(b), n = na < nb ? na : nb;

    return n >= 4 && memcmp(a, b, n) == 0;
}

/* The known word that was probably meant, or NULL. */
static const char *nearest(const char *word, const char *const *known)
{
    const char *best = NULL;
    unsigned best_distance = 3;

    for (; *known; known++) {
        unsigned d = distance(word, *known);
        if (starts_alike(word, *known) && d > 2)
            d = 2;
        if (d < best_distance) {
            best = *known;
            best_distance = d;
        }
    }
    return best;
}

int strict_word(const char *path, const char *what, const char *word, const char *const *known,
                struct err *e)
{
    char plain[80];
    const char *meant = nearest(word, known);

    text_plain(word, plain, sizeof plain);
    if (meant)
        return err_set(e, ERR_USAGE, "%s%s: no such %s; did you mean %s?", path, plain, what,
                       meant);
    return err_set(e, ERR_USAGE, "%s%s: no such %s", path, plain, what);
}

int strict_keys(const struct cJSON *object, const char *path, const char *const *known,
                struct err *e)
{
    for (const struct cJSON *k = json_first(object); k; k = json_next(k)) {
        const char *const *w = known;
        while (*w && strcmp(*w, json_key(k)) != 0)
            w++;
        if (!*w)
            return strict_word(path, "key", json_key(k), known, e);
    }
    return 0;
}

int strict_kind(const char *path, const char *wanted, const struct cJSON *found, struct err *e)
{
    return err_set(e, ERR_USAGE, "%s: must be %s, and is %s", path, wanted,
                   json_kind_name(json_kind(found)));
}
