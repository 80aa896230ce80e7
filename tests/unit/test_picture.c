#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "audit/picture.h"
#include <string.h>

/* Draws the mixers of a word in which k is a KDA layer, m an MLA one, g GQA, w windowed GQA. */
static void expect_mixers(const char *word, const char *want)
{
    struct layer layers[128];
    struct model m = {.layers = layers, .layer_count = (uint32_t)strlen(word)};
    struct buf b;

    memset(layers, 0, sizeof(layers));
    for (size_t i = 0; word[i]; i++) {
        struct mixer *x = &layers[i].mixer;
        x->kind = word[i] == 'k' ? MIXER_KDA : word[i] == 'm' ? MIXER_MLA : MIXER_GQA;
        x->heads = 8;
        x->key_heads = 2;
        x->window = word[i] == 'w' ? 128 : 0;
    }
    buf_init(&b, 10000);
    picture_mixers(&m, &b);
    assert_string_equal(b.data, want);
    buf_release(&b);
}

static void uniform_layers_are_one_run(void **state)
{
    (void)state;
    expect_mixers("g", "GQA");
    expect_mixers("gggg", "4 x GQA");
}

static void hybrid_is_a_repeated_group(void **state)
{
    (void)state;
    expect_mixers("kkkmkkkmm", "2 x (3 x KDA, MLA), MLA");
    expect_mixers("wgwgwg", "3 x (windowed GQA, GQA)");
}

static void kimi_k3_has_a_last_layer_of_its_own(void **state)
{
    char word[94] = "";

    (void)state;
    for (int i = 0; i < 93; i++)
        word[i] = (i + 1) % 4 == 0 || i == 92 ? 'm' : 'k';
    expect_mixers(word, "23 x (3 x KDA, MLA), MLA");
}

static void kimi_linear_tail_is_short(void **state)
{
    char word[28] = "";

    (void)state;
    for (int i = 0; i < 27; i++)
        word[i] = (i + 1) % 4 == 0 || i == 26 ? 'm' : 'k';
    expect_mixers(word, "6 x (3 x KDA, MLA), 2 x KDA, MLA");
}

static void feed_forward_kinds_are_named(void **state)
{
    struct layer layers[4];
    struct model m = {.layers = layers, .layer_count = 4};
    struct buf b;

    (void)state;
    memset(layers, 0, sizeof(layers));
    layers[0].ffn.kind = FFN_DENSE;
    for (int i = 1; i < 4; i++)
        layers[i].ffn.kind = FFN_MOE_LATENT;
    buf_init(&b, 100);
    picture_ffns(&m, &b);
    assert_string_equal(b.data, "dense, 3 x latent MoE");
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_layers_are_one_run),
        cmocka_unit_test(hybrid_is_a_repeated_group),
        cmocka_unit_test(kimi_k3_has_a_last_layer_of_its_own),
        cmocka_unit_test(kimi_linear_tail_is_short),
        cmocka_unit_test(feed_forward_kinds_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
