#include "stress/balance.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* sum (2i - E - 1) x_(i) / (E sum x), i from 1 over the counts in rising order. */
static double gini_of(const uint64_t *counts, uint32_t experts, double sum)
{
    uint64_t *sorted = mem_alloc(experts, sizeof(*sorted));
    double weighted = 0;

    memcpy(sorted, counts, experts * sizeof(*sorted));
    qsort(sorted, experts, sizeof(*sorted), by_value);
    for (uint32_t i = 0; i < experts; i++)
        weighted += (2.0 * (i + 1) - experts - 1) * (double)sorted[i];
    free(sorted);
    return weighted / (experts * sum);
}

int balance_of(const uint64_t *counts, uint32_t experts, uint32_t top_k, struct balance *ret,
               struct err *e)
{
    struct balance b = {.experts = experts};
    double square = 0, entropy = 0;
    uint64_t max = 0;

    if (experts < 2 || top_k == 0 || top_k > experts)
        return err_set(e, ERR_USAGE, "%u of %u experts are no choice to judge", top_k, experts);
    for (uint32_t i = 0; i < experts; i++) {
        if (__builtin_add_overflow(b.copies, counts[i], &b.copies))
            return err_set(e, ERR_LIMIT, "the loads leave 64 bits at expert %u", i);
        if (counts[i] > max)
            max = counts[i];
        if (counts[i] == 0)
            b.unused++;
    }
    if (b.copies == 0)
        return err_set(e, ERR_USAGE, "no token was counted");
    b.mean = (double)b.copies / experts;
    for (uint32_t i = 0; i < experts; i++) {
        double distance = (double)counts[i] - b.mean;
        double share = (double)counts[i] / (double)b.copies;
        square += distance * distance;
        if (counts[i])
            entropy -= share * log(share);
    }
    b.max_mean = (double)max / b.mean;
    b.balancedness = b.mean / (double)max;
    b.max_vio = b.max_mean - 1;
    b.cv = sqrt(square / experts) / b.mean;
    b.entropy = entropy / log(experts);
    b.gini = gini_of(counts, experts, (double)b.copies);
    /* A token picks top_k different experts, so a count is a sum of draws with probability k/E. */
    double chance = (1 - (double)top_k / experts) / b.mean;
    b.cv_floor = sqrt(chance);
    b.max_mean_floor = 1 + sqrt(2 * log(experts) * chance);
    b.too_few = b.mean < BALANCE_TOKENS_PER_EXPERT_MIN;
    *ret = b;
    return 0;
}

double balance_slowdown(const uint64_t *counts, uint32_t layers, uint32_t experts)
{
    double max_sum = 0, mean_sum = 0;

    for (uint32_t l = 0; l < layers; l++) {
        const uint64_t *row = counts + (size_t)l * experts;
        uint64_t max = 0;
        double sum = 0;
        for (uint32_t i = 0; i < experts; i++) {
            max = row[i] > max ? row[i] : max;
            sum += (double)row[i];
        }
        max_sum += (double)max;
        mean_sum += sum / experts;
    }
    return mean_sum > 0 ? max_sum / mean_sum : NAN;
}
