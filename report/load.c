#include "report/load.h"
#include "core/mem.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_RECORD UINT64_MAX

static int by_number(const void *a, const void *b)
{
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;

    return p < q ? -1 : p > q;
}

/* The distinct layers, rising. */
static uint32_t *layers_of(const struct view *v, size_t *ret_count)
{
    uint32_t *all = NULL;
    size_t count = 0, cap = 0, distinct = 0;

    for (size_t i = 0; i < v->facts.load_count; i++) {
        uint32_t layer = v->facts.loads[i].layer;
        if (count && all[count - 1] == layer)
            continue;
        all = mem_grow(all, &cap, count + 1, sizeof(*all));
        all[count++] = layer;
    }
    if (count)
        qsort(all, count, sizeof(*all), by_number);
    for (size_t i = 0; i < count; i++)
        if (!i || all[i] != all[distinct - 1])
            all[distinct++] = all[i];
    *ret_count = distinct;
    return all;
}

/* Keeps the LOAD_HOT largest; the earlier of two equals stays in front. */
static void keep_hot(struct load *p, struct load_hot h)
{
    size_t at = p->hot_count;

    while (at && p->hot[at - 1].share < h.share)
        at--;
    if (at == LOAD_HOT)
        return;
    if (p->hot_count < LOAD_HOT)
        p->hot_count++;
    memmove(p->hot + at + 1, p->hot + at, (p->hot_count - at - 1) * sizeof(h));
    p->hot[at] = h;
}

/* One layer's tokens into the cells of its row. */
static void put_layer(struct load *p, size_t row, uint32_t layer, const uint64_t *tokens)
{
    double total = 0;

    for (uint32_t k = 0; k < p->experts; k++) {
        if (tokens[k] == NO_RECORD)
            p->gaps = true;
        else
            total += (double)tokens[k];
    }
    double mean = total / p->experts;
    for (uint32_t k = 0; k < p->experts; k++) {
        if (tokens[k] == NO_RECORD)
            continue;
        double share = mean > 0 ? (double)tokens[k] / mean : 0;
        float *cell = &p->share[row * p->cols + k / p->per_col];
        if (isnan(*cell) || *cell < (float)share)
            *cell = (float)share;
        keep_hot(p, (struct load_hot){layer, k, tokens[k], share});
    }
}

static uint32_t per_cell(uint32_t count, uint32_t most)
{
    return (count + most - 1) / most;
}

static void fill(struct load *p, const struct view *v, const uint32_t *layers)
{
    uint64_t *tokens = mem_alloc((size_t)p->layers * p->experts, sizeof(*tokens));

    for (size_t i = 0; i < (size_t)p->layers * p->experts; i++)
        tokens[i] = NO_RECORD;
    for (size_t i = 0; i < v->facts.load_count; i++) {
        const struct fact_load *f = &v->facts.loads[i];
        const uint32_t *at = bsearch(&f->layer, layers, p->layers, sizeof(*layers), by_number);
        tokens[(size_t)(at - layers) * p->experts + f->expert] = f->tokens;
    }
    p->per_row = per_cell(p->layers, LOAD_ROWS_MAX);
    p->per_col = per_cell(p->experts, LOAD_COLS_MAX);
    p->rows = per_cell(p->layers, p->per_row);
    p->cols = per_cell(p->experts, p->per_col);
    p->share = mem_alloc(p->rows * p->cols, sizeof(*p->share));
    p->row_name = mem_alloc(p->rows, sizeof(*p->row_name));
    for (size_t i = 0; i < p->rows * p->cols; i++)
        p->share[i] = NAN;
    for (uint32_t i = 0; i < p->layers; i++) {
        if (i % p->per_row == 0)
            p->row_name[i / p->per_row] = layers[i];
        put_layer(p, i / p->per_row, layers[i], tokens + (size_t)i * p->experts);
    }
    free(tokens);
}

void load_init(struct load *ret, const struct view *v, uint32_t experts)
{
    size_t layer_count;
    uint64_t most = experts;

    *ret = (struct load){0};
    if (!v->facts.load_count)
        return;
    uint32_t *layers = layers_of(v, &layer_count);
    for (size_t i = 0; i < v->facts.load_count; i++)
        if ((uint64_t)v->facts.loads[i].expert + 1 > most)
            most = (uint64_t)v->facts.loads[i].expert + 1;
    if (most > LOAD_CELLS_MAX / layer_count) {
        ret->too_many = true;
    } else {
        ret->layers = (uint32_t)layer_count;
        ret->experts = (uint32_t)most;
        fill(ret, v, layers);
    }
    free(layers);
}

void load_release(struct load *p)
{
    free(p->share);
    free(p->row_name);
    *p = (struct load){0};
}
