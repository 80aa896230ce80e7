#ifndef FIXTURE_VIEW_H
#define FIXTURE_VIEW_H
/* Views built by hand for the tests of report/. Every number is made up; strings are literals or
 * live in the facts' arena. */
#include "db/view.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct fixture {
    struct view v;
    struct fact_sink sink;
    struct err e;
    struct verdict verdicts[64];
    size_t cited[256];
    size_t cited_count;
    struct snapshot_file files[1200];
    struct run_support supports[16];
};

static inline void fixture_start(struct fixture *f)
{
    memset(f, 0, sizeof(*f));
    fact_list_init(&f->v.facts);
    f->sink = fact_list_sink(&f->v.facts);
    f->v.subject = "/models/Kimi-K3-sample";
    f->v.subject_kind = "folder";
    f->v.policy_name = "builtin";
    f->v.policy = "";
    f->v.verdicts = f->verdicts;
    f->v.files = f->files;
    f->v.supports = f->supports;
}

static inline void fixture_end(struct fixture *f)
{
    fact_list_release(&f->v.facts);
}

static inline void put_int(struct fixture *f, enum fact_key k, const char *scope, int64_t n)
{
    (void)fact_put_int(&f->sink, k, scope, n, "tensor headers", &f->e);
}
static inline void put_text(struct fixture *f, enum fact_key k, const char *scope, const char *s)
{
    (void)fact_put_text(&f->sink, k, scope, s, "config.json", &f->e);
}
static inline void put_real(struct fixture *f, enum fact_key k, const char *scope, double x,
                            double error)
{
    (void)fact_put_real(&f->sink, k, scope, x, error, "measured", &f->e);
}
static inline void put_unknown(struct fixture *f, enum fact_key k, const char *scope,
                               const char *why)
{
    (void)fact_put_unknown(&f->sink, k, scope, why, &f->e);
}
static inline void put_point(struct fixture *f, const char *series, const char *scope, double x,
                             double y, double error, const char *y_unit, const char *note)
{
    struct fact_point p = {.series = series,
                           .scope = scope,
                           .x = x,
                           .y = y,
                           .y_error = error,
                           .x_unit = "tokens",
                           .y_unit = y_unit,
                           .note = note};
    (void)f->sink.put_point(f->sink.ctx, &p, &f->e);
}

/* A verdict that cites the last `facts` facts put so far. */
static inline void judge(struct fixture *f, enum verdict_item item, const char *rule,
                         enum verdict_status status, const char *title, const char *text,
                         const char *advice, size_t facts)
{
    size_t *first = f->cited + f->cited_count;

    for (size_t i = 0; i < facts && i < f->v.facts.count; i++)
        f->cited[f->cited_count++] = f->v.facts.count - 1 - i;
    f->verdicts[f->v.verdict_count++] = (struct verdict){
        .item = item,
        .rule = rule,
        .sum = !strcmp(rule, "item"),
        .required = true,
        .status = status,
        .title = title,
        .text = text,
        .advice = advice,
        .facts = first,
        .fact_count = facts,
    };
}

static inline void fixture_model(struct fixture *f)
{
    (void)fact_put_text(&f->sink, FACT_HOST_CPU, "", "AMD EPYC 9B14, AVX-512", "/proc/cpuinfo",
                        &f->e);
    put_int(f, FACT_HOST_THREADS, "", 2);
    put_int(f, FACT_HOST_MEMORY, "", 25769803776);
    put_text(f, FACT_HOST_SYSTEM, "", "Linux 6.1.0");
    put_text(f, FACT_HOST_VERSION, "", "0.1.0");
    put_text(f, FACT_MODEL_FAMILY, "", "kimi_k3");
    put_text(f, FACT_MODEL_ARCHITECTURE, "", "KimiK3ForConditionalGeneration");
    put_int(f, FACT_MODEL_LAYERS, "", 9);
    put_int(f, FACT_MODEL_LAYERS, "kda", 6);
    put_int(f, FACT_MODEL_LAYERS, "mla", 3);
    put_int(f, FACT_MODEL_HIDDEN, "", 384);
    put_int(f, FACT_MODEL_TENSORS, "", 2143);
    put_int(f, FACT_MODEL_STORED_BYTES, "", 40263936);
    put_int(f, FACT_MODEL_PARAMS_STORED, "", 63182848);
    put_int(f, FACT_MODEL_PARAMS_TOTAL, "", 63182336);
    put_int(f, FACT_MODEL_PARAMS_ACTIVE, "", 21882112);
    put_int(f, FACT_MODEL_PARAMS_PADDING, "model.layers.0.self_attn.A_log", 512);
    put_int(f, FACT_MODEL_CACHE_PER_TOKEN, "", 3456);
    put_int(f, FACT_MODEL_CACHE_PER_TOKEN, "mla", 3456);
    put_int(f, FACT_MODEL_STATE, "", 1610496);
    put_int(f, FACT_MODEL_STATE, "kda", 1610496);
    put_int(f, FACT_MODEL_EXPERTS, "", 32);
    put_int(f, FACT_MODEL_TOP_K, "", 4);
    put_int(f, FACT_MODEL_LATENT_WIDTH, "", 192);
    put_int(f, FACT_MODEL_ATTNRES_BLOCK, "", 3);
    put_int(f, FACT_MODEL_ATTNRES_SOURCES, "", 4);
    put_text(
        f, FACT_MODEL_FINDING, "kda-delta",
        "note: \"KDA\" is described as key-decoupled attention. The tensors say otherwise: keys "
        "and values are both 128 wide in 4 heads, with a decay per channel. This is Kimi Delta "
        "Attention.");
    put_text(f, FACT_MODEL_FINDING, "format-disagrees",
             "warning: latent: the config declares mxfp4-pack-quantized, the tensors have bf16");
    put_text(f, FACT_MODEL_FINDING, "shard-missing",
             "failure: model-00003-of-00003.safetensors is named by the index and is not there");
}

static inline void fixture_formats(struct fixture *f)
{
    static const char *const parts[][4] = {
        {"routed_experts", "mxfp4-pack-quantized", "mxfp4-pack-quantized", "weight_only"},
        {"shared_experts", "bf16", "bf16", "native"},
        {"latent", "bf16", "mxfp4-pack-quantized", "native"},
        {"attention", "bf16", "bf16", "native"},
        {"norms", "f32", "bf16", "native"}};
    char scope[100];

    put_real(f, FACT_FORMAT_DEQUANT_RATE, "mxfp4-pack-quantized", 3.9e9, 0.08e9);
    put_unknown(f, FACT_FORMAT_DEQUANT_RATE, "exl3", "no kernel here unpacks the format exl3");
    put_real(f, FACT_FORMAT_DEQUANT_LOAD, "routed_experts", 0.007724, 0.000158);
    for (size_t i = 0; i < 5; i++) {
        put_text(f, FACT_FORMAT_OBSERVED, parts[i][0], parts[i][1]);
        put_text(f, FACT_FORMAT_DECLARED, parts[i][0], parts[i][2]);
        put_int(f, FACT_FORMAT_BYTES, parts[i][0], 30123456 >> (3 * i));
        put_int(f, FACT_FORMAT_TENSORS, parts[i][0], 1536 >> i);
        if (strcmp(parts[i][1], parts[i][2]) != 0)
            put_text(f, FACT_FORMAT_DISAGREES, parts[i][0],
                     "config.json declares one thing, the tensors have another");
        for (size_t k = 0; k < 4; k++) {
            static const char *const columns[] = {"vllm|sm90", "sglang|sm90", "vllm|sm100",
                                                  "sglang|sm100"};
            (void)snprintf(scope, sizeof(scope), "%s|%s", parts[i][0], columns[k]);
            if (i == 0 && k == 3)
                put_unknown(f, FACT_FORMAT_SUPPORT, scope,
                            "format_support.csv has no row for it: scan the backend with `assay "
                            "backend scan PATH`");
            else
                put_text(f, FACT_FORMAT_SUPPORT, scope, k < 2 ? parts[i][3] : "native");
        }
    }
    judge(
        f, VERDICT_FORMATS, "item", VERDICT_UNKNOWN, "",
        "Routed experts are MXFP4: weight-only on sm90, native on sm100 with vllm; sglang on sm100 "
        "has no entry.",
        "", 2);
    judge(f, VERDICT_FORMATS, "formats.support", VERDICT_WARN, "",
          "vllm on sm90 runs routed_experts weight-only: 30,123,456 bytes are unpacked in the "
          "kernel.",
          "", 3);
    judge(
        f, VERDICT_FORMATS, "formats.support", VERDICT_UNKNOWN, "",
        "The support table of 2026-08-22 has no entry for mxfp4-pack-quantized on sm100 in sglang.",
        "Scan the version that you run: `assay backend scan PATH`.", 1);
    f->supports[0] = (struct run_support){"vllm",         "format",      "mxfp4-pack-quantized",
                                          "sm90",         "weight_only", "class=routed_experts",
                                          "docs.vllm.ai", "2026-08-22"};
    f->supports[1] = (struct run_support){"vllm",  "operator", "attention.kda", "any",
                                          "fused", "",         "vllm source",   "2026-08"};
    f->v.support_count = 2;
}

static inline void fixture_operators(struct fixture *f)
{
    put_int(f, FACT_OPERATOR_LAYERS, "attention.kda", 6);
    put_int(f, FACT_OPERATOR_LAYERS, "attention.mla", 3);
    put_int(f, FACT_OPERATOR_LAYERS, "residual.attnres_block", 9);
    put_int(f, FACT_OPERATOR_LAYERS, "moe.latent", 8);
    put_text(f, FACT_OPERATOR_SUPPORT, "attention.kda|vllm", "fused");
    put_text(f, FACT_OPERATOR_SUPPORT, "attention.kda|sglang", "partial");
    put_text(f, FACT_OPERATOR_SUPPORT, "attention.mla|vllm", "fused");
    put_text(f, FACT_OPERATOR_SUPPORT, "attention.mla|sglang", "fused");
    put_text(f, FACT_OPERATOR_SUPPORT, "residual.attnres_block|vllm", "composed");
    put_text(f, FACT_OPERATOR_SUPPORT, "residual.attnres_block|sglang", "none");
    put_unknown(f, FACT_OPERATOR_SUPPORT, "moe.latent|vllm", "operator_support.csv has no row");
    put_text(f, FACT_OPERATOR_SUPPORT, "moe.latent|sglang", "fused");
    put_real(f, FACT_FALLBACK_TIME, "attention.kda", 3.412, 0.083);
    put_real(f, FACT_FALLBACK_BYTES, "attention.kda", 4.125, 0);
    put_real(f, FACT_FALLBACK_TIME, "residual.attnres_block", 1.92, 0.04);
    put_real(f, FACT_FALLBACK_BYTES, "residual.attnres_block", 2.6, 0);
    put_unknown(f, FACT_FALLBACK_TIME, "moe.latent", "the time budget of 5 s ran out");
    judge(f, VERDICT_OPERATORS, "item", VERDICT_FAIL, "",
          "sglang has no residual.attnres_block; vllm runs it composed, 1.92x slower.", "", 4);
    judge(f, VERDICT_OPERATORS, "operators.support", VERDICT_FAIL, "",
          "sglang has no residual.attnres_block.", "", 1);
    judge(f, VERDICT_OPERATORS, "operators.support", VERDICT_UNKNOWN, "",
          "operator_support.csv has no row for moe.latent in vllm.",
          "Put one with `--support FILE`.", 1);
}

static inline void fixture_context(struct fixture *f)
{
    for (int i = 12; i <= 20; i++) {
        double x = (double)(1 << i), mla = 3456 * x, kda = 1610496;
        put_point(f, "cache.predicted", "mla", x, mla, 0, "bytes", "");
        put_point(f, "cache.predicted", "kda", x, kda, 0, "bytes", "");
        put_point(f, "cache.predicted", "model", x, mla + kda, 0, "bytes", "");
        bool there = i <= 18;
        const char *note = there ? ""
                                 : "needs 1.21 GB for one layer; the budget is 512 MiB: raise "
                                   "it with `--memory 2G`";
        put_point(f, "cache.measured", "mla", x, there ? mla * 1.002 : NAN, there ? 12288 : 0,
                  "bytes", note);
        put_point(f, "cache.measured", "kda", x, kda + 4096, 24576, "bytes", "");
        put_point(f, "decode.measured", "mla", x, there ? 40 * x / 3 : NAN, there ? x : 0, "ns",
                  note);
        put_point(f, "decode.measured", "kda", x, 84000 + 1000 * (i % 3), 2400, "ns", "");
        put_point(f, "decode.floor", "mla", x, 9.8 * x, 0, "ns", "");
        put_point(f, "decode.floor", "kda", x, 524288 / 11.2, 0, "ns", "");
    }
    put_real(f, FACT_STRESS_BANDWIDTH, "", 11.2e9, 0.14e9);
    put_real(f, FACT_STRESS_BANDWIDTH, "all threads", 19.8e9, 0.31e9);
    put_text(f, FACT_STRESS_COUNTERS, "", "absent: a virtual machine without a PMU");
    put_int(f, FACT_STRESS_TARGET, "", 1048576);
    put_int(f, FACT_STRESS_REACHED, "mla", 262144);
    put_int(f, FACT_STRESS_REACHED, "kda", 1048576);
    put_text(f, FACT_STRESS_LIMIT, "mla", "memory: 512 MiB were allowed");
    put_text(f, FACT_STRESS_GROWTH, "mla", "linear");
    put_text(f, FACT_STRESS_GROWTH_EXPECTED, "mla", "linear");
    put_text(f, FACT_STRESS_GROWTH, "kda", "constant");
    put_text(f, FACT_STRESS_GROWTH_EXPECTED, "kda", "constant");
    put_real(f, FACT_STRESS_CACHE_SLOPE, "mla", 3462.9, 5.2);
    put_real(f, FACT_STRESS_CACHE_SLOPE_EXPECTED, "mla", 3456, 0);
    put_real(f, FACT_STRESS_CACHE_SLOPE, "kda", 0, 0.0002);
    put_real(f, FACT_STRESS_CACHE_CONSTANT, "mla", 1290, 4100);
    put_real(f, FACT_STRESS_CACHE_CONSTANT, "kda", 1614592, 310);
    put_real(f, FACT_STRESS_CACHE_CONSTANT_EXPECTED, "kda", 1610496, 0);
    put_real(f, FACT_STRESS_CACHE_OFF, "mla", 0.0021, 0);
    put_real(f, FACT_STRESS_CACHE_OFF, "kda", 0.0025, 0);
    put_real(f, FACT_STRESS_DECODE, "mla", 3495253, 262144);
    put_real(f, FACT_STRESS_DECODE, "kda", 85000, 2400);
    put_text(f, FACT_STRESS_DECODE_GROWTH, "mla", "linear");
    put_text(f, FACT_STRESS_DECODE_GROWTH, "kda", "constant");
    put_real(f, FACT_STRESS_DECODE_RATE, "mla", 8.64e9, 0.2e9);
    put_real(f, FACT_STRESS_DECODE_RATE, "kda", 6.1e9, 0.2e9);
    put_text(f, FACT_STRESS_VARIANT, "mla", "attn/avx512");
    put_text(f, FACT_STRESS_VARIANT, "kda", "delta/avx512");
    put_int(f, FACT_STRESS_EPOCHS, "mla", 11);
    put_int(f, FACT_STRESS_EPOCHS, "kda", 11);
    put_text(f, FACT_STRESS_DECODE_QUALITY, "mla", "ok");
    put_text(f, FACT_STRESS_DECODE_QUALITY, "kda", "unstable: 9 context switches");
    judge(f, VERDICT_CONTEXT, "item", VERDICT_WARN, "",
          "Cache grows by 3,456 B a token and stays at 1.61 MB for KDA, within 0.25 % of the "
          "architecture, up to 256K of 1M tokens (memory).",
          "", 3);
    judge(f, VERDICT_CONTEXT, "context.growth", VERDICT_PASS, "",
          "mla grows linear as expected: 3,463 B/token found, 3,456 predicted.", "", 2);
    judge(f, VERDICT_CONTEXT, "context.reached", VERDICT_WARN, "",
          "mla was measured to 256K of 1M tokens.",
          "Raise the budget: `assay stress . --memory 2G`.", 1);
}

/* Loads that look like chance, with two hot experts; a fixed multiplier stands for the dice. */
static inline void fixture_loads(struct fixture *f, uint32_t layers, uint32_t experts)
{
    uint32_t dice = 1;

    for (uint32_t l = 0; l < layers; l++)
        for (uint32_t x = 0; x < experts; x++) {
            dice = dice * 1664525u + 1013904223u;
            struct fact_load load = {.layer = l + 1, .expert = x, .tokens = 54 + (dice >> 24) % 22};
            if ((l == layers / 2 && x == experts / 3) || (l == layers / 4 && x == experts / 2))
                load.tokens = 300;
            if (l == 1 && x == 3)
                load.tokens = 0;
            (void)f->sink.put_load(f->sink.ctx, &load, &f->e);
        }
}

static inline void fixture_experts(struct fixture *f, uint32_t layers, uint32_t experts)
{
    char scope[40];

    put_text(f, FACT_BALANCE_SOURCE, "", "synthetic inputs, standard normal, seed 1");
    put_int(f, FACT_BALANCE_LAYERS, "", layers);
    put_int(f, FACT_BALANCE_TOKENS, "", 512);
    put_real(f, FACT_BALANCE_TOKENS_PER_EXPERT, "", 64, 0);
    for (uint32_t l = 0; l <= layers; l++) {
        if (l)
            (void)snprintf(scope, sizeof(scope), "layer %u", l);
        else
            (void)snprintf(scope, sizeof(scope), "worst");
        put_real(f, FACT_BALANCE_MAX_MEAN, scope, 1.31 + 0.001 * l, 0);
        put_real(f, FACT_BALANCE_CV, scope, 0.1182, 0);
        put_real(f, FACT_BALANCE_ENTROPY, scope, 0.9979, 0);
        put_real(f, FACT_BALANCE_GINI, scope, 0.066, 0);
        put_int(f, FACT_BALANCE_UNUSED, scope, l == 2);
    }
    put_real(f, FACT_BALANCE_MAX_MEAN_FLOOR, "", 1.308, 0);
    put_real(f, FACT_BALANCE_CV_FLOOR, "", 0.117, 0);
    fixture_loads(f, layers, experts);
    judge(
        f, VERDICT_EXPERTS, "item", VERDICT_UNKNOWN, "",
        "Synthetic inputs only: max/mean 1.31 where chance gives 1.31. Real traffic was not given.",
        "", 1);
    judge(f, VERDICT_EXPERTS, "experts.source", VERDICT_UNKNOWN, "",
          "No recorded traffic was given.",
          "Record expert counts and give them to `assay balance FILE`.", 1);
}

static inline void fixture_files(struct fixture *f, size_t count)
{
    static char names[1200][64], digests[1200][65];

    for (size_t i = 0; i < count && i < 1200; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "model-%05zu-of-%05zu.safetensors", i + 1,
                       count);
        for (size_t k = 0; k < 64; k++)
            digests[i][k] = "0123456789abcdef"[(i * 7 + k * 11 + k * k) % 16];
        f->files[i] = (struct snapshot_file){.path = names[i],
                                             .size_bytes = 16245748792 + 1024 * i,
                                             .sha256 = digests[i],
                                             .why = "",
                                             .weight = true};
    }
    f->v.file_count = count;
    put_int(f, FACT_FINGERPRINT_FILES, "", (int64_t)count);
    put_int(f, FACT_FINGERPRINT_BYTES, "", 40263936);
    put_int(f, FACT_DISTRIBUTION_SHARDS, "", (int64_t)count);
    put_int(f, FACT_DISTRIBUTION_SHARDS_NAMED, "", (int64_t)count);
}

/* A run with something of everything. */
static inline void fixture_full(struct fixture *f)
{
    fixture_start(f);
    f->v.run = 118;
    f->v.started = 1795918445; /* 2026-11-29 */
    f->v.finished = f->v.started + 61;
    f->v.snapshot_first_seen = f->v.started - 86400;
    f->v.digest = "5f0c1d9e7ab34c21d8e6f9a0b1c2d3e4f5061728394a5b6c7d8e9fa0b1c2e19a";
    f->v.policy = "{\n  \"name\": \"builtin\",\n  \"target\": {\n    \"backends\": [{\"name\": "
                  "\"vllm\", \"hardware\": \"sm90\"}, {\"name\": \"sglang\", \"hardware\": "
                  "\"sm100\"}],\n    \"context_lengths\": [\"128K\", \"1M\"]\n  }\n}\n";
    fixture_model(f);
    fixture_formats(f);
    fixture_operators(f);
    fixture_context(f);
    fixture_experts(f, 8, 32);
    fixture_files(f, 12);
    f->files[2].state = SNAPSHOT_FILE_POINTER;
    f->files[2].sha256 = NULL;
    f->files[2].why = "a Git-LFS pointer of 134 bytes; fetch it with `git lfs pull`";
    put_text(f, FACT_FINGERPRINT_BASELINE, "prod", "same: 12 of 12 files");
    judge(f, VERDICT_FINGERPRINT, "item", VERDICT_PASS, "",
          "All 12 files are hashed and match baseline prod of 2026-07-28.", "", 1);
    judge(f, VERDICT_FINGERPRINT, "fingerprint.baseline", VERDICT_PASS, "",
          "Equal to baseline prod.", "", 1);
    judge(f, VERDICT_DISTRIBUTION, "item", VERDICT_PASS, "Downloadable",
          "12 of 12 weight files that the index names are present and whole.", "", 0);
    judge(f, VERDICT_READINESS, "item", VERDICT_FAIL, "Not ready",
          "One required item failed: operators. Two are unknown: formats, expert balance.", "", 0);
}

#endif
