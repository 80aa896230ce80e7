#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/cost.h"
#include "model/expect.h"
#include "model/quant.h"

/* --- DeepSeek V3 at full scale, by the names, dtypes and shapes of its released headers */

/* A matrix in FP8 with its scales, one per block of 128 x 128. */
static void fp8(struct fixture_tensors *t, const char *prefix, const char *name, uint64_t rows,
                uint64_t cols)
{
    fixture_tensor(t, "F8_E4M3", 8, FIXTURE_DIMS(rows, cols), "%s%s.weight", prefix, name);
    FIXTURE_F32(t, FIXTURE_DIMS((rows + 127) / 128, (cols + 127) / 128), "%s%s.weight_scale_inv",
                prefix, name);
}

static void three(struct fixture_tensors *t, const char *prefix, const char *dir, uint64_t inner)
{
    char name[96];
    snprintf(name, sizeof name, "%s.gate_proj", dir);
    fp8(t, prefix, name, inner, 7168);
    snprintf(name, sizeof name, "%s.up_proj", dir);
    fp8(t, prefix, name, inner, 7168);
    snprintf(name, sizeof name, "%s.down_proj", dir);
    fp8(t, prefix, name, 7168, inner);
}

static void deepseek_layer(struct fixture_tensors *t, unsigned i)
{
    char p[64], name[64];
    snprintf(p, sizeof p, "model.layers.%u.", i);
    fp8(t, p, "self_attn.q_a_proj", 1536, 7168);
    FIXTURE_BF16(t, FIXTURE_DIMS(1536), "%sself_attn.q_a_layernorm.weight", p);
    fp8(t, p, "self_attn.q_b_proj", 24576, 1536);
    fp8(t, p, "self_attn.kv_a_proj_with_mqa", 576, 7168);
    FIXTURE_BF16(t, FIXTURE_DIMS(512), "%sself_attn.kv_a_layernorm.weight", p);
    fp8(t, p, "self_attn.kv_b_proj", 32768, 512);
    fp8(t, p, "self_attn.o_proj", 7168, 16384);
    FIXTURE_BF16(t, FIXTURE_DIMS(7168), "%sinput_layernorm.weight", p);
    FIXTURE_BF16(t, FIXTURE_DIMS(7168), "%spost_attention_layernorm.weight", p);
    if (i < 3) {
        three(t, p, "mlp", 18432);
        return;
    }
    FIXTURE_BF16(t, FIXTURE_DIMS(256, 7168), "%smlp.gate.weight", p);
    FIXTURE_F32(t, FIXTURE_DIMS(256), "%smlp.gate.e_score_correction_bias", p);
    for (unsigned k = 0; k < 256; k++) {
        snprintf(name, sizeof name, "mlp.experts.%u", k);
        three(t, p, name, 2048);
    }
    three(t, p, "mlp.shared_experts", 2048);
}

static void deepseek_v3(struct fixture_tensors *t, bool draft)
{
    fixture_tensors_start(t);
    FIXTURE_BF16(t, FIXTURE_DIMS(129280, 7168), "model.embed_tokens.weight");
    FIXTURE_BF16(t, FIXTURE_DIMS(7168), "model.norm.weight");
    FIXTURE_BF16(t, FIXTURE_DIMS(129280, 7168), "lm_head.weight");
    for (unsigned i = 0; i < 61u + draft; i++)
        deepseek_layer(t, i);
    if (draft) {
        FIXTURE_BF16(t, FIXTURE_DIMS(129280, 7168), "model.layers.61.embed_tokens.weight");
        FIXTURE_BF16(t, FIXTURE_DIMS(7168), "model.layers.61.enorm.weight");
        FIXTURE_BF16(t, FIXTURE_DIMS(7168), "model.layers.61.hnorm.weight");
        FIXTURE_BF16(t, FIXTURE_DIMS(7168, 14336), "model.layers.61.eh_proj.weight");
        FIXTURE_BF16(t, FIXTURE_DIMS(7168), "model.layers.61.shared_head.norm.weight");
        FIXTURE_BF16(t, FIXTURE_DIMS(129280, 7168), "model.layers.61.shared_head.head.weight");
    }
    fixture_tensors_finish(t);
}

/* The hub counts 684,531,386,000 values: these parameters and 41,540,496 scales. */
static void deepseek_v3_headers_give_its_published_sums(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct cost_stored s;
    struct quant_observed o;
    struct quant_declared d;
    char names[QUANT_NAMES_BYTES];
    struct cost c;
    (void)state;
    deepseek_v3(&t, true);
    if (!fixture_real(&f, &t.inv, "aic-deepseek-ai--DeepSeek-V3")) {
        fixture_tensors_end(&t);
        skip();
    }
    if (f.findings.count)
        fail_msg("%s", f.findings.items[0].text);
    assert_int_equal(cost_of(&f.m, &c, &f.e), 0);
    assert_int_equal(c.params_total, 671026419200);
    assert_int_equal(cost_stored_of(&f.m, &t.inv, &s, &f.e), 0);
    assert_int_equal(s.params, 684489845504);
    assert_int_equal(s.params_mtp, 684489845504 - 671026419200);
    assert_int_equal(s.params_other, 0);
    assert_int_equal(quant_observed_of(&f.m, &t.inv, &o, &f.e), 0);
    assert_int_equal(quant_declared_of(f.config, NULL, &f.m, &d, &f.e), 0);
    for (unsigned k = 0; k < QUANT_CLASSES; k++)
        if (k != QUANT_MTP && quant_disagrees(&d, &o, (enum quant_class)k))
            fail_msg("%s: %s against %s", quant_class_name((enum quant_class)k), d.classes[k].names,
                     quant_observed_names(&o, (enum quant_class)k, names));
    assert_string_equal(quant_observed_names(&o, QUANT_ROUTED_EXPERTS, names), "fp8-block-128x128");
    assert_string_equal(quant_observed_names(&o, QUANT_ATTENTION, names), "fp8-block-128x128");
    /* 58 layers x 256 experts x 3 matrices, each with its scales */
    assert_int_equal(o.classes[QUANT_ROUTED_EXPERTS].tensors, 58 * 256 * 3 * 2);
    assert_true(o.classes[QUANT_MTP].tensors > 256 * 3 * 2);
    cost_release(&c);
    fixture_end(&f);
    fixture_tensors_end(&t);

    deepseek_v3(&t, false);
    assert_true(fixture_real(&f, &t.inv, "aic-deepseek-ai--DeepSeek-V3"));
    assert_int_equal(f.findings.count, 1);
    assert_non_null(fixture_finding(&f, "draft-layers-missing", "the tensors have 0"));
    fixture_end(&f);
    fixture_tensors_end(&t);
}

/* --- names */

static void names_are_found_by_their_place(void **state)
{
    static const struct {
        const char *name;
        enum expect_place place;
        const char *item; /* NULL: none expected */
        uint32_t layer, expert;
    } cases[] = {
        {"model.embed_tokens.weight", EXPECT_OUTER, "model.embed_tokens.weight", 0, 0},
        {"lm_head.weight", EXPECT_OUTER, "lm_head.weight", 0, 0},
        {"model.other.weight", EXPECT_OUTER, NULL, 0, 0},
        {"vision_tower.x.weight", EXPECT_FOREIGN, NULL, 0, 0},
        {"model.layers.1.self_attn.q_proj.weight", EXPECT_LAYER, "self_attn.q_proj.weight", 1, 0},
        {"model.layers.1.self_attn.q_proj.weight_scale", EXPECT_LAYER, "self_attn.q_proj.weight", 1,
         0},
        {"model.layers.1.self_attn.q_proj.bias", EXPECT_LAYER, NULL, 1, 0},
        {"model.layers.3.block_sparse_moe.experts.2.w3.weight", EXPECT_LAYER,
         "block_sparse_moe.experts.*.w3.weight", 3, 2},
        {"model.layers.3.block_sparse_moe.experts.02.w3.weight", EXPECT_LAYER, NULL, 3, 0},
        {"model.layers.3.block_sparse_moe.experts.2.w4.weight", EXPECT_LAYER, NULL, 3, 0},
        {"model.layers.3.block_sparse_moe.gate.e_score_correction_bias", EXPECT_LAYER,
         "block_sparse_moe.gate.e_score_correction_bias", 3, 0},
        {"model.layers.4.self_attn.q_proj.weight", EXPECT_BEYOND, NULL, 4, 0},
        {"model.layers.01.self_attn.q_proj.weight", EXPECT_OUTER, NULL, 0, 0},
        {"model.layers.99999999.self_attn.q_proj.weight", EXPECT_OUTER, NULL, 0, 0},
        {"model.layers.", EXPECT_OUTER, NULL, 0, 0},
        {"model.layers.1", EXPECT_OUTER, NULL, 0, 0},
    };
    struct fixture_model f;
    struct expect_finder finder;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL,
                                   "{" FIXTURE_KIMI
                                   ",\"linear_attn_config\":{\"full_attn_layers\":[4],"
                                   "\"kda_layers\":[1,2,3],\"num_heads\":2,\"head_dim\":8,"
                                   "\"short_conv_kernel_size\":4}}"),
                     0);
    expect_finder_init(&finder, &f.m);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct expect_hit hit;
        size_t bytes;
        enum module_role role = module_split(cases[i].name, &bytes);
        expect_find(&finder, cases[i].name, bytes, role, &hit);
        const char *item = hit.item ? hit.item->name : NULL;
        bool same = item && cases[i].item ? !strcmp(item, cases[i].item) : item == cases[i].item;
        if (hit.place != cases[i].place || !same ||
            (hit.place == EXPECT_LAYER && hit.layer != cases[i].layer) ||
            (item && hit.expert != cases[i].expert))
            fail_msg("%s: place %d, %s, layer %u", cases[i].name, (int)hit.place,
                     item ? item : "nothing", hit.layer);
    }
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(deepseek_v3_headers_give_its_published_sums),
        cmocka_unit_test(names_are_found_by_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
