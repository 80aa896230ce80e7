#include "audit/inspection_gguf.h"
#include "core/json.h"
#include "core/text.h"
#include "model/gguf_formats.h"
#include "model/gguf_pairs.h"
#include <stdio.h>
#include <string.h>

/* The tokenizer's lists are counted, the rest of its keys is of no use to a reader. */
static bool shown(const struct gguf_pair *p)
{
    return text_starts(p->key, "general.") || text_starts(p->key, "split.") ||
           strcmp(p->key, "tokenizer.ggml.model") == 0;
}

static void print_types(const struct subject *s)
{
    char count[TEXT_NUMBER_BYTES], bytes[TEXT_NUMBER_BYTES], bits[TEXT_NUMBER_BYTES];
    struct gguf_formats f;

    gguf_formats_of(&s->local.inventory, &f);
    if (f.count == 0)
        return;
    printf("\n%-16s%12s %10s  %s\n", "types", "tensors", "stored", "bits a weight");
    for (size_t i = 0; i < f.count; i++)
        printf("  %-14s%12s %10s  %s\n", f.items[i].name, text_count(f.items[i].tensors, count),
               f.items[i].bits_per_weight > 0 ? text_bytes(f.items[i].bytes, bytes) : "?",
               f.items[i].bits_per_weight > 0 ? text_real(f.items[i].bits_per_weight, 6, bits)
                                              : "? not known");
    if (f.dropped)
        printf("  %s more tensors of other types\n", text_count(f.dropped, count));
}

void inspection_gguf_print(const struct subject *s)
{
    const struct gguf *g = &s->local.gguf;
    char value[GGUF_FORMATS_VALUE_BYTES], key[64];

    printf("\n%-28sversion %u, alignment %llu, %zu %s\n", "GGUF", g->version,
           (unsigned long long)g->alignment, g->pair_count, g->pair_count == 1 ? "key" : "keys");
    for (size_t i = 0; i < g->pair_count; i++)
        if (shown(&g->pairs[i]) && gguf_formats_value(&g->pairs[i], value)[0])
            printf("  %-26s%.90s%s\n", text_plain(g->pairs[i].key, key, sizeof(key)), value,
                   strlen(value) > 90 ? "..." : "");
    print_types(s);
}

static void add_value(struct cJSON *row, const struct gguf_pair *p)
{
    json_add_text(row, "key", p->key);
    json_add_text(row, "type", gguf_pairs_type_name(p->type));
    switch (p->type) {
    case GGUF_TEXT:
        json_add_text(row, "value", p->text);
        json_add_u64(row, "bytes", p->count);
        break;
    case GGUF_ARRAY:
        json_add_text(row, "elements", gguf_pairs_type_name(p->element));
        json_add_u64(row, "count", p->count);
        break;
    case GGUF_BOOL: json_add_bool(row, "value", p->u64 != 0); break;
    case GGUF_F32:
    case GGUF_F64: json_add_real(row, "value", p->real); break;
    case GGUF_I8:
    case GGUF_I16:
    case GGUF_I32:
    case GGUF_I64: json_add_i64(row, "value", p->i64); break;
    default: json_add_u64(row, "value", p->u64); break;
    }
}

void inspection_gguf_json(struct cJSON *doc, const struct subject *s)
{
    const struct gguf *g = &s->local.gguf;
    struct cJSON *o = json_add_object(doc, "gguf");
    struct gguf_formats f;

    json_add_u64(o, "version", g->version);
    json_add_u64(o, "alignment", g->alignment);
    json_add_u64(o, "parts", s->local.gguf_parts);
    struct cJSON *pairs = json_add_array(o, "metadata");
    for (size_t i = 0; i < g->pair_count; i++)
        add_value(json_add_object(pairs, NULL), &g->pairs[i]);
    gguf_formats_of(&s->local.inventory, &f);
    struct cJSON *types = json_add_array(o, "types");
    for (size_t i = 0; i < f.count; i++) {
        struct cJSON *row = json_add_object(types, NULL);
        json_add_text(row, "type", f.items[i].name);
        json_add_u64(row, "tensors", f.items[i].tensors);
        json_add_u64(row, "elements", f.items[i].elements);
        if (f.items[i].bits_per_weight > 0) {
            json_add_u64(row, "bytes", f.items[i].bytes);
            json_add_real(row, "bits_per_weight", f.items[i].bits_per_weight);
        } else {
            json_add_null(row, "bytes");
            json_add_null(row, "bits_per_weight");
        }
    }
}
