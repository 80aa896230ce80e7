#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/operators.h"
#include "probes/support.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define F SUPPORT_FORMATS_HEADER "\n"
#define O SUPPORT_OPERATORS_HEADER "\n"

static void shipped(struct support *s)
{
    struct err e = {0};

    if (support_init(s, &e))
        fail_msg("%s", e.msg);
}

/* A support of nothing but these lines. */
static void only(const char *text, struct support *s)
{
    struct err e = {0};

    *s = (struct support){0};
    if (support_add(s, text, strlen(text), "t.csv", &e))
        fail_msg("%s", e.msg);
}

static void assert_format(const struct support *s, const char *backend, const char *format,
                          const char *hardware, const char *class, const char *act,
                          const char *expected)
{
    struct support_answer a;

    support_format(s, backend, format, hardware, class, act, &a);
    if (strcmp(support_status_name(a.status), expected) != 0)
        fail_msg("%s %s on %s: %s, not %s", backend, format, hardware,
                 support_status_name(a.status), expected);
    assert_int_equal(a.status == SUPPORT_UNKNOWN, a.why[0] != 0);
    assert_true(a.status == SUPPORT_UNKNOWN || a.decisive->status == a.status);
    support_answer_release(&a);
}

static void assert_operator(const struct support *s, const char *backend, const char *op,
                            const char *hardware, const char *expected)
{
    struct support_answer a;

    support_operator(s, backend, op, hardware, &a);
    if (strcmp(support_status_name(a.status), expected) != 0)
        fail_msg("%s %s on %s: %s, not %s", backend, op, hardware, support_status_name(a.status),
                 expected);
    support_answer_release(&a);
}

/* --- the shipped tables -------------------------------------------------------------------- */

static void every_shipped_row_has_its_own_source_and_date(void **state)
{
    struct support s;

    (void)state;
    shipped(&s);
    assert_true(s.tables[SUPPORT_FORMATS].count > 100);
    assert_true(s.tables[SUPPORT_OPERATORS].count > 100);
    for (int k = 0; k < SUPPORT_KINDS; k++)
        for (size_t i = 0; i < s.tables[k].count; i++) {
            const struct support_row *r = &s.tables[k].rows[i];
            assert_true(strlen(r->source) > 6);
            assert_string_not_equal(r->source, "same");
            assert_true(strncmp(r->as_of, "202", 3) == 0);
        }
    support_release(&s);
}

static void shipped_operators_have_the_names_of_the_model(void **state)
{
    static const char *const names[] = {
#define X(enumerator, name, meaning) name,
        OPERATORS_TABLE(X)
#undef X
            "attention.gated_delta",
        "attention.dsa"}; /* of models that are not built yet */
    struct support s;

    (void)state;
    shipped(&s);
    for (size_t i = 0; i < s.tables[SUPPORT_OPERATORS].count; i++) {
        const char *entry = s.tables[SUPPORT_OPERATORS].rows[i].entry;
        size_t j = 0;
        while (j < sizeof(names) / sizeof(*names) && strcmp(names[j], entry) != 0)
            j++;
        if (j == sizeof(names) / sizeof(*names))
            fail_msg("%s is no operator", entry);
    }
    support_release(&s);
}

/* Formats as model/quant.h spells them, GGUF types, and methods under their own names. */
static void shipped_formats_have_the_names_of_the_model(void **state)
{
    static const char *const begins[] = {
        "pack-quantized-int", "int8-", "fp8", "gguf-", "gptq-", "awq-int", "mlx-", "bnb-", "mxfp4",
        "modelopt-"};
    static const char *const names[] = {"bf16",
                                        "f16",
                                        "f32",
                                        "nvfp4-pack-quantized",
                                        "mxfp8-quantized",
                                        "*",
                                        "compressed-tensors",
                                        "online",
                                        "inc",
                                        "torchao",
                                        "hqq",
                                        "aqlm",
                                        "eetq",
                                        "quanto",
                                        "quark",
                                        "quark_int4fp8_moe",
                                        "fbgemm_fp8",
                                        "auto-round",
                                        "bitblas",
                                        "deepspeedfp",
                                        "modelslim",
                                        "blockwise_int8",
                                        "tpu_int8",
                                        "smooth_quant",
                                        "omni_quant",
                                        "kv-bf16",
                                        "kv-fp8",
                                        "dense-prefill",
                                        "sparse-prefill"};
    static const char *const classes[] = {"routed_experts", "shared_experts", "attention",
                                          "dense_ffn", "norms"};
    struct support s;

    (void)state;
    shipped(&s);
    for (size_t i = 0; i < s.tables[SUPPORT_FORMATS].count; i++) {
        const struct support_row *r = &s.tables[SUPPORT_FORMATS].rows[i];
        int known = 0;
        for (size_t j = 0; j < sizeof(begins) / sizeof(*begins); j++)
            known |= strncmp(r->entry, begins[j], strlen(begins[j])) == 0;
        for (size_t j = 0; j < sizeof(names) / sizeof(*names); j++)
            known |= strcmp(r->entry, names[j]) == 0;
        if (!known)
            fail_msg("%s is no format", r->entry);
        known = !r->class;
        for (size_t j = 0; r->class && j < 5; j++)
            known |= strcmp(r->class, classes[j]) == 0;
        assert_true(known);
        assert_true(!r->act || strcmp(r->act, "situ") == 0);
    }
    support_release(&s);
}

/* vLLM #31085: the hardware has FP4, the kernel's gate asks for capability family 100. */
static void sm120_is_not_sm100(void **state)
{
    struct support_answer a;
    struct support s;

    (void)state;
    shipped(&s);
    assert_format(&s, "vllm", "mxfp4-blocks", "sm120", "routed_experts", "silu", "weight_only");
    assert_format(&s, "vllm", "mxfp4-blocks", "sm100", "routed_experts", "silu", "native");
    assert_format(&s, "llama.cpp", "gguf-mxfp4", "sm120", NULL, NULL, "native");
    assert_format(&s, "llama.cpp", "gguf-mxfp4", "sm100", NULL, NULL, "weight_only");
    support_format(&s, "vllm", "mxfp4-blocks", "sm120", "routed_experts", "silu", &a);
    assert_non_null(strstr(a.decisive->source, "31085"));
    assert_non_null(strstr(a.decisive->condition, "family 100"));
    support_answer_release(&a);
    support_release(&s);
}

/* aiconfigurator #1462: the activation is part of the kernel's signature. */
static void kimi_k3_is_weight_only_in_vllm_because_of_situ(void **state)
{
    static const char *const hardware[] = {"sm80", "sm89", "sm90", "sm100", "sm103", "sm120"};
    struct support s;

    (void)state;
    shipped(&s);
    for (size_t i = 0; i < sizeof(hardware) / sizeof(*hardware); i++) {
        struct support_answer a;
        support_format(&s, "vllm", "mxfp4-pack-quantized", hardware[i], "routed_experts", "situ",
                       &a);
        assert_int_equal(a.status, SUPPORT_WEIGHT_ONLY);
        assert_non_null(strstr(a.decisive->condition, "SiTU"));
        support_answer_release(&a);
    }
    assert_format(&s, "vllm", "mxfp4-pack-quantized", "sm100", "routed_experts", "silu", "unknown");
    assert_format(&s, "sglang", "mxfp4-pack-quantized", "sm100", "routed_experts", "situ",
                  "native");
    assert_format(&s, "sglang", "mxfp4-pack-quantized", "sm90", "routed_experts", "situ",
                  "weight_only");
    assert_format(&s, "sglang", "mxfp4-pack-quantized", "sm80", "routed_experts", "situ",
                  "unknown");
    assert_format(&s, "trtllm", "mxfp4-pack-quantized", "sm100", "routed_experts", "situ",
                  "weight_only");
    support_release(&s);
}

/* gpustack #2761: a list is older than the engine. */
static void not_in_the_table_is_unknown_and_never_rejected(void **state)
{
    struct support_answer a;
    struct support s;

    (void)state;
    shipped(&s);
    assert_format(&s, "engine-of-next-year", "bf16", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "vllm", "format-of-next-year", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "mlx-lm", "mxfp4-pack-quantized", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "vllm", "unknown", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "vllm", "", "sm90", NULL, NULL, "unknown");
    assert_operator(&s, "vllm", "operator.of_next_year", "sm90", "unknown");
    support_format(&s, "vllm", "exl3", "sm90", "attention", NULL, &a);
    assert_int_equal(a.row_count, 0);
    assert_null(a.decisive);
    assert_string_equal(a.why, "not in the table: exl3 on vllm, hardware sm90, class attention");
    support_answer_release(&a);
    support_release(&s);
}

/* mlx-lm #1865: every compressed-tensors checkpoint but one was read as affine 4-bit g32. */
static void silent_corruption_is_a_reject(void **state)
{
    struct support_answer a;
    struct support s;

    (void)state;
    shipped(&s);
    support_format(&s, "mlx-lm", "fp8-tensor", "metal", NULL, NULL, &a);
    assert_int_equal(a.status, SUPPORT_REJECT);
    assert_non_null(strstr(a.decisive->condition, "0.32.0"));
    support_answer_release(&a);
    assert_format(&s, "mlx-lm", "pack-quantized-int4-g32", "metal", NULL, NULL, "convert");
    assert_format(&s, "mlx-lm", "pack-quantized-int8-channel", "metal", NULL, NULL, "reject");
    support_release(&s);
}

static void formats_are_as_the_sources_state_them(void **state)
{
    static const char *const rows[][4] = {
        {"vllm", "awq-int4", "sm90", "weight_only"},
        {"vllm", "awq-int4", "sm70", "reject"},
        {"vllm", "gptq-int4", "amd", "reject"},
        {"vllm", "gptq-int8", "x86", "supported"},
        {"vllm", "fp8-block-128x128", "sm90", "native"},
        {"vllm", "fp8-block-128x128", "sm80", "weight_only"},
        {"vllm", "int8-channel", "sm80", "native"},
        {"vllm", "nvfp4-pack-quantized", "sm100", "native"},
        {"vllm", "nvfp4-pack-quantized", "sm90", "weight_only"},
        {"vllm", "pack-quantized-int4-g32", "sm90", "weight_only"},
        {"vllm", "pack-quantized-int4-g32", "sm70", "reject"},
        {"vllm", "bf16", "sm90", "native"},
        {"vllm", "bf16", "sm75", "reject"},
        {"vllm", "f32", "sm90", "convert"},
        {"sglang", "bf16", "sm100", "native"},
        {"sglang", "fp8-block-128x128", "sm90", "native"},
        {"sglang", "fp8-block-128x128", "mi300", "native"},
        {"sglang", "fp8-block-128x128", "sm80", "supported"},
        {"sglang", "gptq-int4", "mi355x", "weight_only"},
        {"sglang", "modelopt-nvfp4", "sm100", "native"},
        {"trtllm", "fp8-block-128x128", "sm90", "supported"},
        {"trtllm", "fp8-block-128x128", "sm80", "unknown"},
        {"llama.cpp", "gguf-q4_k", "sm90", "weight_only"},
        {"llama.cpp", "gguf-iq4_xs", "vulkan", "weight_only"},
        {"llama.cpp", "gguf-tq1_0", "sm90", "reject"},
        {"llama.cpp", "gguf-nvfp4", "metal", "reject"},
        {"llama.cpp", "mxfp4-pack-quantized", "sm90", "convert"},
        {"llama.cpp", "mxfp4-pack-quantized", "x86", "convert"},
        {"deepgemm", "fp8-block-128x128", "sm120", "reject"},
        {"transformers", "gguf-q8_0", "sm90", "expand"},
        {"transformers", "gptq-int4", "sm90", "weight_only"},
    };
    struct support s;

    (void)state;
    shipped(&s);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_format(&s, rows[i][0], rows[i][1], rows[i][2], NULL, NULL, rows[i][3]);
    assert_format(&s, "vllm", "mxfp4-pack-quantized", "mi355x", "routed_experts", "situ", "native");
    assert_format(&s, "vllm-ascend", "pack-quantized-int4-g32", "ascend", "attention", NULL,
                  "reject");
    assert_format(&s, "vllm-ascend", "pack-quantized-int4-g32", "ascend", "routed_experts", NULL,
                  "unknown");
    assert_format(&s, "trtllm", "bf16", "sm100", "routed_experts", NULL, "native");
    assert_format(&s, "vllm", "f32+bf16", "sm90", "norms", "situ", "native");
    assert_format(&s, "vllm", "f32", "sm90", "attention", "situ", "convert");
    support_release(&s);
}

static void operators_are_as_the_sources_state_them(void **state)
{
    static const char *const rows[][4] = {
        {"vllm", "attention.kda", "sm90", "fused"},
        {"vllm", "attention.mla", "sm100", "fused"},
        {"vllm", "attention.dsa", "sm120", "none"},
        {"vllm", "attention.dsa", "sm90", "partial"},
        {"vllm", "residual.attnres_block", "sm90", "fused"},
        {"vllm", "moe.latent", "sm100", "fused"},
        {"vllm", "activation.situ", "sm100", "partial"},
        {"sglang", "attention.kda", "sm90", "fused"},
        {"sglang", "attention.kda", "sm89", "partial"},
        {"sglang", "activation.situ", "sm100", "partial"},
        {"sglang", "residual.attnres_block", "sm100", "fused"},
        {"trtllm", "activation.situ", "sm100", "fused"},
        {"llama.cpp", "attention.kda", "sm90", "fused"},
        {"llama.cpp", "attention.kda", "ascend", "none"},
        {"llama.cpp", "attention.dsa", "vulkan", "none"},
        {"llama.cpp", "residual.attnres_block", "sm90", "partial"},
        {"llama.cpp", "activation.situ", "sm90", "composed"},
        {"transformers", "attention.kda", "sm90", "partial"},
        {"transformers", "attention.mla", "sm90", "composed"},
        {"transformers", "residual.attnres_block", "sm90", "none"},
        {"transformers", "moe.latent", "sm90", "unknown"}, /* none found is not "there is none" */
        {"mlx-lm", "activation.situ", "metal", "unknown"},
        {"mlx-lm", "attention.kda", "metal", "fused"},
    };
    struct support_answer a;
    struct support s;

    (void)state;
    shipped(&s);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_operator(&s, rows[i][0], rows[i][1], rows[i][2], rows[i][3]);
    support_operator(&s, "transformers", "moe.latent", "sm90", &a);
    assert_non_null(a.decisive);
    assert_non_null(strstr(a.why, "none found"));
    support_answer_release(&a);
    support_release(&s);
}

/* --- how rows decide ----------------------------------------------------------------------- */

static void closer_hardware_decides_and_stands_first(void **state)
{
    struct support_answer a;
    struct support s;

    (void)state;
    only(F "b,f,any,expand,,source,2026\nb,f,cuda,weight_only,,source,2026\n"
           "b,f,sm90,native,,source,2026\nb,f,amd,reject,,source,2026\n",
         &s);
    support_format(&s, "b", "f", "sm90", NULL, NULL, &a);
    assert_int_equal(a.row_count, 3);
    assert_string_equal(a.rows[0]->hardware, "sm90");
    assert_string_equal(a.rows[1]->hardware, "cuda");
    assert_string_equal(a.rows[2]->hardware, "any");
    assert_int_equal(a.status, SUPPORT_NATIVE);
    support_answer_release(&a);
    assert_format(&s, "b", "f", "sm80", NULL, NULL, "weight_only");
    assert_format(&s, "b", "f", "mi300", NULL, NULL, "reject");
    assert_format(&s, "b", "f", "metal", NULL, NULL, "expand");
    assert_format(&s, "b", "f", "cuda", NULL, NULL, "weight_only");
    support_release(&s);
}

static void the_worst_of_equals_decides_and_supported_yields(void **state)
{
    struct support s;

    (void)state;
    only(F "b,f,sm90,native,,source,2026\nb,f,sm90,weight_only,,source,2026\n"
           "b,g,sm90,supported,,source,2026\nb,g,sm90,native,,source,2026\n"
           "b,h,sm90,supported,,source,2026\n",
         &s);
    assert_format(&s, "b", "f", "sm90", NULL, NULL, "weight_only");
    assert_format(&s, "b", "g", "sm90", NULL, NULL, "native");
    assert_format(&s, "b", "h", "sm90", NULL, NULL, "supported");
    support_release(&s);
}

static void an_option_decides_only_where_nothing_else_speaks(void **state)
{
    struct support_answer a;
    struct support s;

    (void)state;
    only(F "b,f,sm90,native,option=fast; start with --fast,source,2026\n"
           "b,f,any,expand,,source,2026\nb,g,sm90,native,option=fast,source,2026\n",
         &s);
    support_format(&s, "b", "f", "sm90", NULL, NULL, &a);
    assert_int_equal(a.status, SUPPORT_EXPAND);
    assert_int_equal(a.row_count, 2);
    assert_string_equal(a.rows[0]->option, "fast");
    support_answer_release(&a);
    assert_format(&s, "b", "g", "sm90", NULL, NULL, "native");
    support_release(&s);
}

static void class_and_activation_narrow_a_row(void **state)
{
    struct support s;

    (void)state;
    only(F "b,f,any,native,,source,2026\nb,f,any,reject,class=attention,source,2026\n"
           "b,h,any,expand,,source,2026\nb,h,sm90,native,class=norms,source,2026\n"
           "b,g,any,weight_only,class=routed_experts act=situ; no kernel,source,2026\n"
           "b,g,sm90,native,,source,2026\n",
         &s);
    assert_format(&s, "b", "f", "sm90", "routed_experts", NULL, "native");
    assert_format(&s, "b", "f", "sm90", "attention", NULL, "reject");
    assert_format(&s, "b", "f", "sm90", NULL, NULL, "reject"); /* not known: it can be worse */
    assert_format(&s, "b", "g", "sm90", "routed_experts", "situ", "weight_only");
    assert_format(&s, "b", "g", "sm90", NULL, NULL, "weight_only");
    assert_format(&s, "b", "g", "sm80", NULL, "situ", "unknown");
    assert_format(&s, "b", "g", "sm90", "routed_experts", "silu", "native");
    assert_format(&s, "b", "g", "sm90", "attention", "situ", "native");
    assert_format(&s, "b", "h", "sm90", "norms", NULL, "native");
    assert_format(&s, "b", "h", "sm90", NULL, NULL, "expand");
    support_release(&s);
}

static void a_joined_format_gets_the_worst_of_its_parts(void **state)
{
    struct support_answer a;
    struct support s;

    (void)state;
    only(F "b,n,any,native,,source,2026\nb,w,any,weight_only,,source,2026\n"
           "b,e,any,expand,,source,2026\nb,x,any,reject,,source,2026\n"
           "b,p-*,any,convert,,source,2026\n",
         &s);
    assert_format(&s, "b", "n+w", "sm90", NULL, NULL, "weight_only");
    assert_format(&s, "b", "w+n", "sm90", NULL, NULL, "weight_only");
    assert_format(&s, "b", "e+other", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "b", "other+x", "sm90", NULL, NULL, "reject");
    assert_format(&s, "b", "n+p-1x2+w", "sm90", NULL, NULL, "convert");
    assert_format(&s, "b", "n+", "sm90", NULL, NULL, "unknown");
    support_format(&s, "b", "n+w+n", "sm90", NULL, NULL, &a);
    assert_int_equal(a.row_count, 3);
    assert_string_equal(a.decisive->entry, "w");
    support_answer_release(&a);
    support_release(&s);
}

static void a_star_ends_a_name_and_nothing_else_does(void **state)
{
    struct support s;

    (void)state;
    only(F "b,fp8-block-*,any,native,,source,2026\nb,gptq-int4,any,reject,,source,2026\n", &s);
    assert_format(&s, "b", "fp8-block-128x128", "sm90", NULL, NULL, "native");
    assert_format(&s, "b", "fp8-block", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "b", "gptq-int48", "sm90", NULL, NULL, "unknown");
    assert_format(&s, "b", "gptq-int", "sm90", NULL, NULL, "unknown");
    support_release(&s);
}

static void a_newer_file_goes_before_the_shipped_rows(void **state)
{
    static const char mine[] = F "vllm,mxfp4-blocks,any,native,,release notes,2027-01\n";
    static const char later[] = F "vllm,mxfp4-blocks,any,expand,,a test here,2027-02\r\n";
    struct support_answer a;
    struct support s;
    struct err e = {0};

    (void)state;
    shipped(&s);
    assert_int_equal(support_add(&s, mine, sizeof(mine) - 1, "mine.csv", &e), 0);
    support_format(&s, "vllm", "mxfp4-blocks", "sm120", NULL, NULL, &a);
    assert_int_equal(a.status, SUPPORT_NATIVE);
    assert_string_equal(a.decisive->origin, "mine.csv");
    assert_int_equal(a.decisive->layer, 1);
    assert_string_equal(a.rows[0]->origin, "mine.csv");
    assert_string_equal(a.rows[1]->origin, "format_support.csv");
    support_answer_release(&a);
    assert_int_equal(support_add(&s, later, sizeof(later) - 1, "later.csv", &e), 0);
    assert_format(&s, "vllm", "mxfp4-blocks", "sm120", NULL, NULL, "expand");
    assert_format(&s, "vllm", "awq-int4", "sm90", NULL, NULL, "weight_only");
    support_release(&s);
}

/* --- what is no table ---------------------------------------------------------------------- */

static void a_broken_table_is_refused_and_changes_nothing(void **state)
{
    static const struct {
        const char *text, *where, *what;
    } cases[] = {
        {"", "line 1", "must be"},
        {"backend,format\n", "line 1", "must be"},
        {"\xef\xbb\xbf" F, "line 1", "must be"},
        {F "b,f,any,native,,source\n", "line 2", "fewer"},
        {F "b,f,any,native,,source,2026,x\n", "line 2", "more"},
        {F "b,f,any,native,,source,2026\n\n", "line 3", "fewer"},
        {F "b,f,any,natve,,source,2026\n", "line 2", "\"natve\" is no status"},
        {F "b,f,any,fused,,source,2026\n", "line 2", "\"fused\" is no status"},
        {O "b,f,any,native,,source,2026\n", "line 2", "\"native\" is no status"},
        {F "b,f,sm9000,native,,source,2026\n", "line 2", "\"sm9000\" is no hardware"},
        {F "b,f,SM90,native,,source,2026\n", "line 2", "no hardware"},
        {F "b,f,any,native,,,2026\n", "line 2", "source is empty"},
        {F "b,f,any,native,,source,\n", "line 2", "as_of is empty"},
        {F ",f,any,native,,source,2026\n", "line 2", "backend is empty"},
        {F "b,,any,native,,source,2026\n", "line 2", "entry is empty"},
        {F "b,f,any,native,,source,soon\n", "line 2", "no date"},
        {F "b,f,any,native,,source,2026-13\n", "line 2", "no date"},
        {F "b,f,any,native,,source,2026-1\n", "line 2", "no date"},
        {F "b,f,any,native,,source,2026-12-32\n", "line 2", "no date"},
        {F "b,f,any,native,clas=x,source,2026\n", "line 2", "not class="},
        {F "b,f,any,native,act=,source,2026\n", "line 2", "no value"},
        {F "b,f,any,native,act=a act=b,source,2026\n", "line 2", "twice"},
        {F "b,f,any,native,act=a free text,source,2026\n", "line 2", "semicolon"},
        {F "b,f,any,native,,source,2026\nb,f,any,native,,\"so,2026\n", "line 3, column", "break"},
    };
    struct support s;

    (void)state;
    only(F "b,f,any,expand,,source,2026\n", &s);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct err e = {0};
        int rc = support_add(&s, cases[i].text, strlen(cases[i].text), "my.csv", &e);
        if (rc != ERR_FORMAT)
            fail_msg("case %zu was taken", i);
        assert_non_null(strstr(e.msg, "my.csv, "));
        if (!strstr(e.msg, cases[i].where) || !strstr(e.msg, cases[i].what))
            fail_msg("case %zu: %s", i, e.msg);
        assert_int_equal(s.tables[SUPPORT_FORMATS].count, 1);
    }
    assert_format(&s, "b", "f", "sm90", NULL, NULL, "expand");
    support_release(&s);
}

static void limits_are_named(void **state)
{
    static const char row[] = "b,f,any,native,,source,2026\n";
    size_t n = sizeof(F) - 1 + (SUPPORT_ROWS_MAX + 1) * (sizeof(row) - 1);
    char *text = malloc(n);
    struct support s = {0};
    struct err e = {0};

    (void)state;
    memcpy(text, F, sizeof(F) - 1);
    for (size_t i = 0; i <= SUPPORT_ROWS_MAX; i++)
        memcpy(text + sizeof(F) - 1 + i * (sizeof(row) - 1), row, sizeof(row) - 1);
    assert_int_equal(support_add(&s, text, n, "big.csv", &e), ERR_LIMIT);
    assert_non_null(strstr(e.msg, "big.csv: more rows than the limit of 20000"));
    assert_int_equal(support_add(&s, text, n - (sizeof(row) - 1), "big.csv", &e), 0);
    assert_int_equal(s.tables[SUPPORT_FORMATS].count, SUPPORT_ROWS_MAX);
    assert_int_equal(support_add(&s, text, SUPPORT_TEXT_BYTES_MAX + 1, "big.csv", &e), ERR_LIMIT);
    free(text);
    support_release(&s);
}

static void a_header_alone_is_an_empty_table(void **state)
{
    struct support s;

    (void)state;
    only(SUPPORT_OPERATORS_HEADER, &s);
    assert_int_equal(s.tables[SUPPORT_OPERATORS].count, 0);
    assert_operator(&s, "vllm", "rope", "sm90", "unknown");
    support_release(&s);
}

static void hardware_words_are_a_closed_set(void **state)
{
    (void)state;
    assert_true(support_has_hardware("sm90"));
    assert_true(support_has_hardware("mi355x"));
    assert_true(support_has_hardware("any"));
    assert_false(support_has_hardware("h100"));
    assert_false(support_has_hardware(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shipped_row_has_its_own_source_and_date),
        cmocka_unit_test(shipped_operators_have_the_names_of_the_model),
        cmocka_unit_test(shipped_formats_have_the_names_of_the_model),
        cmocka_unit_test(sm120_is_not_sm100),
        cmocka_unit_test(kimi_k3_is_weight_only_in_vllm_because_of_situ),
        cmocka_unit_test(not_in_the_table_is_unknown_and_never_rejected),
        cmocka_unit_test(silent_corruption_is_a_reject),
        cmocka_unit_test(formats_are_as_the_sources_state_them),
        cmocka_unit_test(operators_are_as_the_sources_state_them),
        cmocka_unit_test(closer_hardware_decides_and_stands_first),
        cmocka_unit_test(the_worst_of_equals_decides_and_supported_yields),
        cmocka_unit_test(an_option_decides_only_where_nothing_else_speaks),
        cmocka_unit_test(class_and_activation_narrow_a_row),
        cmocka_unit_test(a_joined_format_gets_the_worst_of_its_parts),
        cmocka_unit_test(a_star_ends_a_name_and_nothing_else_does),
        cmocka_unit_test(a_newer_file_goes_before_the_shipped_rows),
        cmocka_unit_test(a_broken_table_is_refused_and_changes_nothing),
        cmocka_unit_test(limits_are_named),
        cmocka_unit_test(a_header_alone_is_an_empty_table),
        cmocka_unit_test(hardware_words_are_a_closed_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
