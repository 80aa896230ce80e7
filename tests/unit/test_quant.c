#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fixture_model.h"
#include "model/quant.h"

/* --- declared */

static void check_names(const char *what, const struct quant_declared *d, enum quant_class c,
                        const char *want)
{
    if (strcmp(d->classes[c].names, want))
        fail_msg("%s: %s declares \"%s\" (%s), not \"%s\"", what, quant_class_name(c),
                 d->classes[c].names, d->classes[c].why, want);
}

struct real {
    const char *slug, *where, *method;
    const char *experts, *shared, *attention, *dense, *router, *head;
};

/* Read off the files by hand. Kimi K2.6: layer 0, attention and shared experts are left out by
 * name. Qwen3-235B FP8: all of modules_to_not_convert are norms, gates and the head. */
static const struct real reals[] = {
    {"aic-moonshotai--Kimi-K3", "text_config.quantization_config", "compressed-tensors",
     "mxfp4-pack-quantized", "bf16", "bf16", "bf16", "bf16", "bf16"},
    {"aic-moonshotai--Kimi-K2.5", "text_config.quantization_config", "compressed-tensors",
     "pack-quantized-int4-g32", "bf16", "bf16", "bf16", "bf16", "bf16"},
    {"aic-nvidia--Kimi-K2.6-NVFP4", "quantization_config", "modelopt", "modelopt-nvfp4", "bf16",
     "bf16", "bf16", "bf16", "bf16"},
    {"aic-deepseek-ai--DeepSeek-V3", "quantization_config", "fp8", "fp8-block-128x128",
     "fp8-block-128x128", "fp8-block-128x128", "fp8-block-128x128", "bf16", "bf16"},
    {"aic-Qwen--Qwen3-235B-A22B-FP8", "quantization_config", "fp8", "fp8-block-128x128", "",
     "fp8-block-128x128", "", "bf16", "bf16"},
    {"aic-Qwen--Qwen3-32B-FP8-Static-PerTensor", "quantization_config", "modelopt", "", "",
     "fp8-tensor", "fp8-tensor", "", "bf16"},
    {"lfs-genz-70b-gptq-3bit-128g-actorder-true", "quantization_config", "gptq", "", "",
     "gptq-int3", "gptq-int3", "", "bf16"},
    {"aic-meta-llama--Llama-3.3-70B-Instruct", "config.json", "", "", "", "bf16", "bf16", "",
     "bf16"},
};

static void real_declarations_are_read_per_class(void **state)
{
    size_t found = 0;
    (void)state;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        const struct real *r = &reals[i];
        struct fixture_model f;
        struct quant_declared d;
        if (!fixture_real(&f, NULL, r->slug))
            continue;
        if (quant_declared_of(f.config, NULL, &f.m, &d, &f.e))
            fail_msg("%s: %s", r->slug, f.e.msg);
        assert_string_equal(d.where, r->where);
        assert_string_equal(d.method, r->method);
        check_names(r->slug, &d, QUANT_ROUTED_EXPERTS, r->experts);
        check_names(r->slug, &d, QUANT_SHARED_EXPERTS, r->shared);
        check_names(r->slug, &d, QUANT_ATTENTION, r->attention);
        check_names(r->slug, &d, QUANT_DENSE_FFN, r->dense);
        check_names(r->slug, &d, QUANT_ROUTER, r->router);
        check_names(r->slug, &d, QUANT_HEAD, r->head);
        check_names(r->slug, &d, QUANT_EMBEDDING, "bf16");
        fixture_end(&f);
        found++;
    }
    if (!found)
        skip();
}

/* Several of NVIDIA's checkpoints declare in hf_quant_config.json alone. */
static void hf_quant_config_is_read_where_the_config_is_silent(void **state)
{
    struct fixture_model f;
    struct quant_declared d;
    struct cJSON *hf = NULL;
    size_t n = 0;
    (void)state;
    if (!fixture_real(&f, NULL, "aic-nvidia--Qwen3-30B-A3B-NVFP4"))
        skip();
    char *text = fixture_corpus("aic-nvidia--Qwen3-30B-A3B-NVFP4", "hf_quant_config.json", &n);
    assert_non_null(text);
    assert_int_equal(json_parse(text, n, &hf, NULL, &f.e), 0);
    assert_int_equal(quant_declared_of(f.config, hf, &f.m, &d, &f.e), 0);
    assert_string_equal(d.where, "hf_quant_config.json");
    check_names("hf", &d, QUANT_ROUTED_EXPERTS, "modelopt-nvfp4");
    check_names("hf", &d, QUANT_ROUTER, "bf16");
    assert_int_equal(quant_declared_of(f.config, NULL, &f.m, &d, &f.e), 0);
    check_names("without", &d, QUANT_ROUTED_EXPERTS, "bf16");
    json_free(hf);
    free(text);
    fixture_end(&f);
}

#define CT(group, ignore)                                                           \
    ",\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"format\":" \
    "\"float-quantized\",\"config_groups\":{\"g\":{" group "}},\"ignore\":[" ignore "]}"
#define FP8_CHANNEL                                                                         \
    "\"targets\":[\"Linear\"],\"weights\":{\"num_bits\":8,\"type\":\"float\",\"strategy\":" \
    "\"channel\"}"

static const struct {
    const char *block, *attention, *dense, *head, *why;
} blocks[] = {
    {CT(FP8_CHANNEL, "\"lm_head\""), "fp8-channel", "fp8-channel", "bf16", ""},
    /* re.match: from the start of the name, and not to its end */
    {CT(FP8_CHANNEL, "\"re:.*self_attn\""), "bf16", "fp8-channel", "fp8-channel", ""},
    {CT(FP8_CHANNEL, "\"re:self_attn\""), "fp8-channel", "fp8-channel", "fp8-channel", ""},
    {CT(FP8_CHANNEL, "\"re:model\\\\.layers\\\\.0\""), "bf16+fp8-channel", "bf16+fp8-channel",
     "fp8-channel", ""},
    /* literals are whole names */
    {CT(FP8_CHANNEL, "\"model.layers.0.mlp\""), "fp8-channel", "fp8-channel", "fp8-channel", ""},
    {CT(FP8_CHANNEL, "\"model.layers.0.mlp.up_proj\""), "fp8-channel", "fp8-channel+bf16",
     "fp8-channel", ""},
    /* expressions that POSIX reads otherwise than Python */
    {CT(FP8_CHANNEL, "\"re:(?i).*attn.*\""), "unknown", "unknown", "unknown", "(?i)"},
    {CT(FP8_CHANNEL, "\"re:.*\\\\d+.*\",\"re:.*mlp.*\""), "unknown", "bf16", "unknown", "\\\\d+"},
    {CT("\"targets\":[\"re:.*mlp.*\"],\"weights\":{\"num_bits\":8,\"type\":\"float\",\"strategy\":"
        "\"block\",\"block_structure\":[128,64]}",
        ""),
     "bf16", "fp8-block-128x64", "bf16", ""},
    {CT("\"format\":\"pack-quantized\",\"targets\":[\"Linear\"],\"weights\":{\"num_bits\":3,"
        "\"type\":\"int\",\"group_size\":128}",
        ""),
     "pack-quantized-int3-g128", "pack-quantized-int3-g128", "pack-quantized-int3-g128", ""},
    {CT("\"format\":\"marlin-24\",\"targets\":[\"Linear\"],\"weights\":{\"num_bits\":4,\"type\":"
        "\"int\"}",
        ""),
     "unknown", "unknown", "unknown", "marlin-24"},
    {",\"quantization_config\":{\"quant_method\":\"compressed-tensors\",\"config_groups\":"
     "{\"W4A16\":[\"Linear\"]}}",
     "unknown", "unknown", "unknown", "preset W4A16"},
    /* the older place, and MLX's, where embeddings are quantised too */
    {",\"compression_config\":{\"quant_method\":\"compressed-tensors\",\"format\":\"int-"
     "quantized\","
     "\"config_groups\":{\"g\":{\"targets\":[\"Linear\"],\"weights\":{\"num_bits\":8,\"strategy\":"
     "\"channel\"}}},\"ignore\":[\"lm_head\"]}",
     "int8-channel", "int8-channel", "bf16", ""},
    {",\"quantization\":{\"group_size\":64,\"bits\":8,\"model.layers.0.mlp.up_proj\":false,"
     "\"model.layers.1.mlp.up_proj\":{\"group_size\":32,\"bits\":4}}",
     "mlx-int8-g64", "mlx-int8-g64+bf16+mlx-int4-g32", "mlx-int8-g64", ""},
    /* fp8: a list of names of which parts may be left out; no block size is one scale a tensor */
    {",\"quantization_config\":{\"quant_method\":\"fp8\",\"weight_block_size\":[32,32],"
     "\"modules_to_not_convert\":[\"o_proj\",\"model.layers.1.mlp\"]}",
     "fp8-block-32x32+bf16", "bf16+fp8-block-32x32", "bf16", ""},
    {",\"quantization_config\":{\"quant_method\":\"fp8\"}", "fp8-tensor", "fp8-tensor", "bf16", ""},
    {",\"quantization_config\":{\"quant_method\":\"fp8\",\"quant_algo\":\"MIXED_PRECISION\"}",
     "unknown", "unknown", "unknown", "fp8 and quant_algo"},
    /* ModelOpt: shell patterns, and modules named one by one */
    {",\"quantization_config\":{\"quant_method\":\"modelopt\",\"quant_algo\":\"NVFP4\",\"ignore\":["
     "\"lm_head\",\"model.layers.*.self_attn*\"]}",
     "bf16", "modelopt-nvfp4", "bf16", ""},
    {",\"quantization_config\":{\"quant_algo\":\"MIXED_PRECISION\",\"quantized_layers\":{"
     "\"model.layers.0.mlp\":{\"quant_algo\":\"W4A16_NVFP4\"},\"model.layers.1.self_attn.q_proj\":"
     "{\"quant_algo\":\"FP8\"}}}",
     "bf16+fp8-tensor", "bf16+modelopt-nvfp4", "bf16", ""},
    {",\"quantization_config\":{\"quant_method\":\"awq\",\"bits\":4,\"group_size\":128}",
     "awq-int4", "awq-int4", "bf16", ""},
    {",\"quantization_config\":{\"quant_method\":\"bitsandbytes\",\"load_in_4bit\":true,"
     "\"bnb_4bit_quant_type\":\"nf4\"}",
     "bnb-nf4", "bnb-nf4", "bf16", ""},
    /* never guessed */
    {",\"quantization_config\":{\"quant_method\":\"dv_ssq_hadamard_int8_int4_rco\",\"bits\":4}",
     "unknown", "unknown", "unknown", "dv_ssq_hadamard_int8_int4_rco"},
    {",\"quantization_config\":{\"some\":1}", "unknown", "unknown", "unknown", "quant_method"},
    {",\"quantization_config\":null", "bf16", "bf16", "bf16", ""},
};

static void blocks_are_read_by_each_methods_own_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct fixture_model f;
        struct quant_declared d;
        assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA "%s}", blocks[i].block), 0);
        if (quant_declared_of(f.config, NULL, &f.m, &d, &f.e))
            fail_msg("%s: %s", blocks[i].block, f.e.msg);
        check_names(blocks[i].block, &d, QUANT_ATTENTION, blocks[i].attention);
        check_names(blocks[i].block, &d, QUANT_DENSE_FFN, blocks[i].dense);
        check_names(blocks[i].block, &d, QUANT_HEAD, blocks[i].head);
        if (!strstr(d.classes[QUANT_ATTENTION].why, blocks[i].why))
            fail_msg("%s: %s", blocks[i].block, d.classes[QUANT_ATTENTION].why);
        fixture_end(&f);
    }
}

static void a_block_of_the_wrong_kind_is_an_error(void **state)
{
    struct fixture_model f;
    struct quant_declared d;
    (void)state;
    assert_int_equal(fixture_build(&f, NULL, "{" FIXTURE_LLAMA ",\"quantization_config\":\"FP8\"}"),
                     0);
    assert_int_equal(quant_declared_of(f.config, NULL, &f.m, &d, &f.e), ERR_FORMAT);
    assert_non_null(strstr(f.e.msg, "quantization_config is"));
    fixture_end(&f);
}

/* --- observed */

static void packed_layer(struct fixture_tensors *t, unsigned i)
{
    static const struct {
        const char *name;
        uint64_t rows, cols;
    } w[] = {{"self_attn.q_proj", 64, 64}, {"self_attn.k_proj", 32, 64},
             {"self_attn.v_proj", 32, 64}, {"self_attn.o_proj", 64, 64},
             {"mlp.gate_proj", 160, 64},   {"mlp.up_proj", 160, 64},
             {"mlp.down_proj", 64, 160}};
    for (size_t k = 0; k < sizeof w / sizeof *w; k++) {
        char p[96];
        snprintf(p, sizeof p, "model.layers.%u.%s", i, w[k].name);
        fixture_tensor(t, "I32", 32, FIXTURE_DIMS(w[k].rows, w[k].cols / 8), "%s.weight_packed", p);
        FIXTURE_BF16(t, FIXTURE_DIMS(w[k].rows, w[k].cols / 32), "%s.weight_scale", p);
        fixture_tensor(t, "I64", 64, FIXTURE_DIMS(2), "%s.weight_shape", p);
    }
    FIXTURE_BF16(t, FIXTURE_DIMS(64), "model.layers.%u.input_layernorm.weight", i);
    FIXTURE_BF16(t, FIXTURE_DIMS(64), "model.layers.%u.post_attention_layernorm.weight", i);
}

static void every_tensor_is_in_one_class_with_its_companions(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct quant_observed o;
    char names[QUANT_NAMES_BYTES];
    uint64_t tensors = 0, bytes = 0;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    packed_layer(&t, 0);
    fixture_llama_layer(&t, "model.", 1, 32, 32, 160);
    FIXTURE_BF16(&t, FIXTURE_DIMS(5), "vision_tower.x.weight");
    fixture_tensors_finish(&t);
    assert_int_equal(fixture_build(&f, &t.inv, "{" FIXTURE_LLAMA "}"), 0);
    /* that of the tower, which is in a class of its own */
    assert_int_equal(fixture_findings(&f, FINDING_WARN), 1);
    assert_non_null(fixture_finding(&f, "tensor-unexpected", "vision_tower.x"));
    assert_int_equal(quant_observed_of(&f.m, &t.inv, &o, &f.e), 0);
    for (unsigned c = 0; c < QUANT_CLASSES; c++) {
        tensors += o.classes[c].tensors;
        bytes += o.classes[c].bytes;
    }
    assert_int_equal(tensors, t.inv.count);
    assert_int_equal(bytes, t.inv.stored_bytes);
    assert_string_equal(quant_observed_names(&o, QUANT_ATTENTION, names),
                        "bf16+pack-quantized-int4-g32");
    assert_int_equal(o.classes[QUANT_ATTENTION].formats[1].tensors, 12);
    /* 12,288 numbers at half a byte, their 384 scales of 2 bytes, 4 shapes of 16 */
    assert_int_equal(o.classes[QUANT_ATTENTION].formats[1].bytes, 6144 + 768 + 64);
    assert_string_equal(quant_observed_names(&o, QUANT_HEAD, names), "bf16");
    assert_int_equal(o.classes[QUANT_OTHER].tensors, 1);
    assert_int_equal(o.classes[QUANT_MTP].tensors, 0);
    assert_string_equal(quant_observed_names(&o, QUANT_MTP, names), "");
    assert_int_equal(quant_class_of(&f.m, inventory_find(&t.inv, "lm_head.weight")), QUANT_HEAD);
    assert_int_equal(
        quant_class_of(&f.m, inventory_find(&t.inv, "model.layers.0.mlp.up_proj.weight_scale")),
        QUANT_DENSE_FFN);
    assert_int_equal(
        quant_class_of(&f.m, inventory_find(&t.inv, "model.layers.0.input_layernorm.weight")),
        QUANT_NORMS);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void a_difference_is_a_finding_and_a_fact(void **state)
{
    struct fixture_tensors t;
    struct fixture_model f;
    struct quant_observed o;
    struct quant_declared d;
    struct fact_list l;
    (void)state;
    fixture_tensors_start(&t);
    fixture_llama_outer(&t, "model.", "lm_head.weight");
    packed_layer(&t, 0);
    packed_layer(&t, 1);
    fixture_tensors_finish(&t);
    /* the config declares 4-bit attention in groups of 32, and leaves the feed-forward out */
    assert_int_equal(
        fixture_build(&f, &t.inv,
                      "{" FIXTURE_LLAMA CT(
                          "\"format\":\"pack-quantized\",\"targets\":[\"Linear\"],\"weights\":{"
                          "\"num_bits\":4,\"type\":\"int\",\"group_size\":32}",
                          "\"lm_head\",\"re:.*mlp.*\"") "}"),
        0);
    assert_int_equal(quant_observed_of(&f.m, &t.inv, &o, &f.e), 0);
    assert_int_equal(quant_declared_of(f.config, NULL, &f.m, &d, &f.e), 0);
    assert_false(quant_disagrees(&d, &o, QUANT_ATTENTION));
    assert_true(quant_disagrees(&d, &o, QUANT_DENSE_FFN));
    assert_false(quant_disagrees(&d, &o, QUANT_HEAD));
    fact_list_init(&l);
    struct fact_sink sink = fact_list_sink(&l);
    assert_int_equal(quant_facts(&d, &o, &f.findings, &sink, &f.e), 0);
    const struct fact *x = fact_list_find(&l, FACT_FORMAT_DISAGREES, "dense_ffn");
    assert_non_null(x);
    assert_string_equal(x->text, "bf16 declared, pack-quantized-int4-g32 in the tensors");
    assert_null(fact_list_find(&l, FACT_FORMAT_DISAGREES, "attention"));
    assert_non_null(fixture_finding(&f, "format-disagrees", "The format of dense_ffn"));
    assert_string_equal(fact_list_find(&l, FACT_FORMAT_OBSERVED, "attention")->text,
                        "pack-quantized-int4-g32");
    assert_int_equal(fact_list_find(&l, FACT_FORMAT_TENSORS, "attention")->i, 24);
    assert_null(fact_list_find(&l, FACT_FORMAT_OBSERVED, "routed_experts"));
    fact_list_release(&l);
    /* without headers the observed side is unknown, not plain */
    fact_list_init(&l);
    sink = fact_list_sink(&l);
    assert_int_equal(quant_facts(&d, NULL, NULL, &sink, &f.e), 0);
    assert_int_equal(fact_list_find(&l, FACT_FORMAT_OBSERVED, "attention")->state, FACT_UNKNOWN);
    fact_list_release(&l);
    fixture_end(&f);
    fixture_tensors_end(&t);
}

static void norms_in_f32_are_no_difference(void **state)
{
    struct quant_declared d = {0};
    struct quant_observed o = {0};
    (void)state;
    strcpy(d.classes[QUANT_NORMS].names, "bf16");
    strcpy(o.classes[QUANT_NORMS].formats[0].name, "f32");
    strcpy(o.classes[QUANT_NORMS].formats[1].name, "bf16");
    o.classes[QUANT_NORMS].format_count = 2;
    assert_false(quant_disagrees(&d, &o, QUANT_NORMS));
    strcpy(o.classes[QUANT_NORMS].formats[1].name, "i8");
    assert_true(quant_disagrees(&d, &o, QUANT_NORMS));
    /* the order of shares is no difference either */
    strcpy(d.classes[QUANT_ATTENTION].names, "bf16+fp8-tensor");
    strcpy(o.classes[QUANT_ATTENTION].formats[0].name, "fp8-tensor");
    strcpy(o.classes[QUANT_ATTENTION].formats[1].name, "bf16");
    o.classes[QUANT_ATTENTION].format_count = 2;
    assert_false(quant_disagrees(&d, &o, QUANT_ATTENTION));
    strcpy(d.classes[QUANT_ATTENTION].names, "unknown");
    assert_false(quant_disagrees(&d, &o, QUANT_ATTENTION));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_declarations_are_read_per_class),
        cmocka_unit_test(hf_quant_config_is_read_where_the_config_is_silent),
        cmocka_unit_test(blocks_are_read_by_each_methods_own_rules),
        cmocka_unit_test(a_block_of_the_wrong_kind_is_an_error),
        cmocka_unit_test(every_tensor_is_in_one_class_with_its_companions),
        cmocka_unit_test(a_difference_is_a_finding_and_a_fact),
        cmocka_unit_test(norms_in_f32_are_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
