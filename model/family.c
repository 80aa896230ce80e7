#include "model/family.h"
#include <string.h>

static bool among(const char *const *names, const char *name)
{
    for (int i = 0; i < FAMILY_NAMES_MAX && names[i]; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

static bool fits(const struct family *f, const char *model_type, const char *architecture)
{
    return (!*model_type || among(f->types, model_type)) &&
           (*architecture ? among(f->architectures, architecture) : !f->draft);
}

/* The architecture is the class that runs: a config may call itself a llama and be none. */
const struct family *family_find(const char *model_type, const char *architecture)
{
    if (!*model_type && !*architecture)
        return NULL;
    for (size_t i = 0; i < family_llama_count; i++)
        if (fits(&family_llama[i], model_type, architecture))
            return &family_llama[i];
    for (size_t i = 0; i < family_mixed_count; i++)
        if (fits(&family_mixed[i], model_type, architecture))
            return &family_mixed[i];
    return NULL;
}

const struct family_wrapper *family_find_wrapper(const char *model_type, const char *architecture)
{
    for (size_t i = 0; i < family_wrappers_count; i++) {
        const struct family_wrapper *w = &family_wrappers[i];
        if (!strcmp(w->type, model_type) &&
            (!*architecture || among(w->architectures, architecture)))
            return w;
    }
    return NULL;
}

bool family_holds(const struct family_wrapper *w, const struct family *f)
{
    return among(w->texts, f->types[0]);
}

bool family_has_key(const char *words, const char *key)
{
    size_t n = strlen(key);
    if (n == 0 || strchr(key, ' '))
        return false; /* a config may have such keys, and they are no words */
    for (const char *at = words; at && (at = strstr(at, key)); at++)
        if (at > words && at[-1] == ' ' && at[n] == ' ')
            return true;
    return false;
}
