#include "model/gguf_type.h"
#include <stddef.h>
#include <string.h>

#define PLAIN(n, f, d, bytes)                                                         \
    {                                                                                 \
        .name = n, .format = f, .dtype = d, .block_elements = 1, .block_bytes = bytes \
    }
#define BLOCK(n, f, elements, bytes)                                             \
    {                                                                            \
        .name = n, .format = f, .block_elements = elements, .block_bytes = bytes \
    }

static const struct gguf_type types[] = {
    [0] = PLAIN("F32", "f32", DTYPE_F32, 4),
    [1] = PLAIN("F16", "f16", DTYPE_F16, 2),
    [2] = BLOCK("Q4_0", "gguf-q4_0", 32, 18),
    [3] = BLOCK("Q4_1", "gguf-q4_1", 32, 20),
    [6] = BLOCK("Q5_0", "gguf-q5_0", 32, 22),
    [7] = BLOCK("Q5_1", "gguf-q5_1", 32, 24),
    [8] = BLOCK("Q8_0", "gguf-q8_0", 32, 34),
    [9] = BLOCK("Q8_1", "gguf-q8_1", 32, 36),
    [10] = BLOCK("Q2_K", "gguf-q2_k", 256, 84),
    [11] = BLOCK("Q3_K", "gguf-q3_k", 256, 110),
    [12] = BLOCK("Q4_K", "gguf-q4_k", 256, 144),
    [13] = BLOCK("Q5_K", "gguf-q5_k", 256, 176),
    [14] = BLOCK("Q6_K", "gguf-q6_k", 256, 210),
    [15] = BLOCK("Q8_K", "gguf-q8_k", 256, 292),
    [16] = BLOCK("IQ2_XXS", "gguf-iq2_xxs", 256, 66),
    [17] = BLOCK("IQ2_XS", "gguf-iq2_xs", 256, 74),
    [18] = BLOCK("IQ3_XXS", "gguf-iq3_xxs", 256, 98),
    [19] = BLOCK("IQ1_S", "gguf-iq1_s", 256, 50),
    [20] = BLOCK("IQ4_NL", "gguf-iq4_nl", 32, 18),
    [21] = BLOCK("IQ3_S", "gguf-iq3_s", 256, 110),
    [22] = BLOCK("IQ2_S", "gguf-iq2_s", 256, 82),
    [23] = BLOCK("IQ4_XS", "gguf-iq4_xs", 256, 136),
    [24] = PLAIN("I8", "i8", DTYPE_I8, 1),
    [25] = PLAIN("I16", "i16", DTYPE_I16, 2),
    [26] = PLAIN("I32", "i32", DTYPE_I32, 4),
    [27] = PLAIN("I64", "i64", DTYPE_I64, 8),
    [28] = PLAIN("F64", "f64", DTYPE_F64, 8),
    [29] = BLOCK("IQ1_M", "gguf-iq1_m", 256, 56),
    [30] = PLAIN("BF16", "bf16", DTYPE_BF16, 2),
    [34] = BLOCK("TQ1_0", "gguf-tq1_0", 256, 54),
    [35] = BLOCK("TQ2_0", "gguf-tq2_0", 256, 66),
    [39] = BLOCK("MXFP4", "gguf-mxfp4", 32, 17),
    [40] = BLOCK("NVFP4", "gguf-nvfp4", 64, 36),
    [41] = BLOCK("Q1_0", "gguf-q1_0", 128, 18),
    [42] = BLOCK("Q2_0", "gguf-q2_0", 64, 18),
};

static const char *const removed[] = {
    [4] = "Q4_2",      [5] = "Q4_3",        [31] = "Q4_0_4_4",   [32] = "Q4_0_4_8",
    [33] = "Q4_0_8_8", [36] = "IQ4_NL_4_4", [37] = "IQ4_NL_4_8", [38] = "IQ4_NL_8_8"};

const struct gguf_type *gguf_type_find(uint32_t id)
{
    return id < sizeof(types) / sizeof(types[0]) && types[id].name ? &types[id] : NULL;
}

const char *gguf_type_removed(uint32_t id)
{
    return id < sizeof(removed) / sizeof(removed[0]) ? removed[id] : NULL;
}

const struct gguf_type *gguf_type_named(const char *format)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if (types[i].name && strcmp(types[i].format, format) == 0)
            return &types[i];
    return NULL;
}

double gguf_type_bits(const struct gguf_type *t)
{
    return 8.0 * t->block_bytes / t->block_elements;
}

int gguf_type_of_file(uint64_t file_type, const char **ret_name, const char **ret_format)
{
    static const struct {
        const char *name, *format;
    } files[] = {
        [0] = {"F32", "f32"},
        [1] = {"F16", "f16"},
        [2] = {"Q4_0", "gguf-q4_0"},
        [3] = {"Q4_1", "gguf-q4_1"},
        [7] = {"Q8_0", "gguf-q8_0"},
        [8] = {"Q5_0", "gguf-q5_0"},
        [9] = {"Q5_1", "gguf-q5_1"},
        [10] = {"Q2_K", "gguf-q2_k"},
        [11] = {"Q3_K_S", "gguf-q3_k"},
        [12] = {"Q3_K_M", "gguf-q3_k"},
        [13] = {"Q3_K_L", "gguf-q3_k"},
        [14] = {"Q4_K_S", "gguf-q4_k"},
        [15] = {"Q4_K_M", "gguf-q4_k"},
        [16] = {"Q5_K_S", "gguf-q5_k"},
        [17] = {"Q5_K_M", "gguf-q5_k"},
        [18] = {"Q6_K", "gguf-q6_k"},
        [19] = {"IQ2_XXS", "gguf-iq2_xxs"},
        [20] = {"IQ2_XS", "gguf-iq2_xs"},
        [21] = {"Q2_K_S", "gguf-q2_k"},
        [22] = {"IQ3_XS", "gguf-iq3_s"},
        [23] = {"IQ3_XXS", "gguf-iq3_xxs"},
        [24] = {"IQ1_S", "gguf-iq1_s"},
        [25] = {"IQ4_NL", "gguf-iq4_nl"},
        [26] = {"IQ3_S", "gguf-iq3_s"},
        [27] = {"IQ3_M", "gguf-iq3_s"},
        [28] = {"IQ2_S", "gguf-iq2_xs"},
        [29] = {"IQ2_M", "gguf-iq2_s"},
        [30] = {"IQ4_XS", "gguf-iq4_xs"},
        [31] = {"IQ1_M", "gguf-iq1_m"},
        [32] = {"BF16", "bf16"},
        [36] = {"TQ1_0", "gguf-tq1_0"},
        [37] = {"TQ2_0", "gguf-tq2_0"},
        [38] = {"MXFP4_MOE", "gguf-mxfp4"},
        [39] = {"NVFP4", "gguf-nvfp4"},
        [40] = {"Q1_0", "gguf-q1_0"},
    };

    if (file_type >= sizeof(files) / sizeof(files[0]) || !files[file_type].name)
        return -1;
    *ret_name = files[file_type].name;
    *ret_format = files[file_type].format;
    return 0;
}
