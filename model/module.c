#include "model/module.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- names */

static const struct part {
    const char *text;
    enum module_role role;
} parts[] = {
    {".weight", MODULE_WEIGHT},
    {".weight_packed", MODULE_PACKED},
    {".weight_scale", MODULE_SCALE},
    {".bias", MODULE_BIAS},
    {".weight_scale_inv", MODULE_SCALE_INV},
    {".weight_scale_2", MODULE_SCALE_2},
    {".weight_global_scale", MODULE_GLOBAL_SCALE},
    {".weight_shape", MODULE_SHAPE},
    {".weight_zero_point", MODULE_ZERO},
    {".weight_g_idx", MODULE_EXTRA},
    {".input_scale", MODULE_EXTRA},
    {".input_global_scale", MODULE_EXTRA},
    {".input_zero_point", MODULE_EXTRA},
    {".output_scale", MODULE_EXTRA},
    {".k_scale", MODULE_EXTRA},
    {".v_scale", MODULE_EXTRA},
    {".q_scale", MODULE_EXTRA},
    {".qweight", MODULE_QWEIGHT},
    {".qzeros", MODULE_ZERO},
    {".scales", MODULE_SCALES},
    {".biases", MODULE_BIASES},
    {".g_idx", MODULE_EXTRA},
    {".SCB", MODULE_SCB},
    {".weight_format", MODULE_EXTRA},
    {".trellis", MODULE_TRELLIS},
    {".suh", MODULE_EXTRA},
    {".svh", MODULE_EXTRA},
    {".weight.absmax", MODULE_ABSMAX},
};

static bool ends(const char *name, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n > m && !memcmp(name + n - m, end, m);
}

enum module_role module_split(const char *name, size_t *ret_module_bytes)
{
    size_t n = strlen(name);
    const char *dot = strrchr(name, '.');
    *ret_module_bytes = n;
    for (size_t i = 0; dot && i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(dot, parts[i].text)) {
            *ret_module_bytes = (size_t)(dot - name);
            return parts[i].role;
        }
    /* bitsandbytes hangs its companions below the weight: x.weight.quant_state.* */
    const char *below = strstr(name, ".weight.");
    if (below && below != name) {
        *ret_module_bytes = (size_t)(below - name);
        return !strcmp(below, ".weight.absmax") ? MODULE_ABSMAX : MODULE_EXTRA;
    }
    if (ends(name, n, "_blocks")) {
        *ret_module_bytes = n - strlen("_blocks");
        return MODULE_BLOCKS;
    }
    if (ends(name, n, "_scales")) {
        *ret_module_bytes = n - strlen("_scales");
        return MODULE_BLOCK_SCALES;
    }
    return MODULE_PLAIN;
}

bool module_next(const struct inventory *inv, size_t *at, struct module *ret)
{
    struct module x = {0};
    size_t i = *at;
    for (; i < inv->count; i++) {
        const struct tensor *t = &inv->tensors[i];
        size_t bytes;
        enum module_role role = module_split(t->name, &bytes);
        if (x.tensors && (bytes != x.module_bytes || memcmp(t->name, x.name, bytes) ||
                          role == MODULE_PLAIN || x.role[MODULE_PLAIN]))
            break;
        if (!x.tensors) {
            x.name = t->name;
            x.module_bytes = bytes;
        }
        x.role[role] = t;
        x.bytes += t->bytes;
        x.tensors++;
    }
    *at = i;
    *ret = x;
    return x.tensors > 0;
}

const struct tensor *module_data(const struct module *x)
{
    static const enum module_role roles[] = {MODULE_PACKED, MODULE_QWEIGHT, MODULE_TRELLIS,
                                             MODULE_BLOCKS, MODULE_WEIGHT,  MODULE_PLAIN,
                                             MODULE_BIAS};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (x->role[roles[i]])
            return x->role[roles[i]];
    return NULL;
}

/* --- shapes */

/* True if the last dimension holds two 4-bit numbers a byte. */
static bool nibbles(const struct module *x, const struct tensor *t)
{
    return t->dtype == DTYPE_U8 &&
           (x->role[MODULE_PACKED] == t || (x->role[MODULE_WEIGHT] == t && x->role[MODULE_SCALE] &&
                                            x->role[MODULE_SCALE]->dtype == DTYPE_F8_E4M3));
}

/* True if the numbers are packed into words by a number of bits that the headers do not name. */
static bool worded(const struct module *x, const struct tensor *t)
{
    return x->role[MODULE_QWEIGHT] == t || x->role[MODULE_TRELLIS] == t ||
           (x->role[MODULE_PACKED] == t && t->dtype != DTYPE_U8) ||
           (x->role[MODULE_WEIGHT] == t && x->role[MODULE_SCALES]) ||
           (x->role[MODULE_WEIGHT] == t && x->role[MODULE_ABSMAX]);
}

bool module_shape(const struct module *x, uint8_t *ret_dims, uint64_t ret[TENSOR_DIMS_MAX])
{
    const struct tensor *t = module_data(x);
    if (!t || worded(x, t))
        return false;
    uint8_t dims = t->dims;
    memcpy(ret, t->shape, sizeof t->shape);
    if (x->role[MODULE_BLOCKS] == t) {
        /* [.., groups, 16] bytes of two: the last two dimensions are one of groups * 32 */
        if (dims < 2 || t->shape[dims - 1] != 16 ||
            __builtin_mul_overflow(t->shape[dims - 2], 32u, &ret[dims - 2]))
            return false;
        dims--;
    } else if (nibbles(x, t)) {
        if (!dims || __builtin_mul_overflow(t->shape[dims - 1], 2u, &ret[dims - 1]))
            return false;
    }
    *ret_dims = dims;
    return true;
}

static uint8_t squeeze(uint8_t dims, const uint64_t *shape, uint64_t ret[TENSOR_DIMS_MAX])
{
    uint8_t n = 0;
    for (uint8_t i = 0; i < dims; i++)
        if (shape[i] != 1)
            ret[n++] = shape[i];
    return n;
}

/* Bits for which `words` 32-bit words hold n numbers, 0 if there are none from 1 to 8. */
static unsigned bits_for(uint64_t words, uint64_t n)
{
    for (unsigned bits = 1; bits <= 8 && n && words <= UINT64_MAX / 32 && n <= UINT64_MAX / 8;
         bits++)
        if (words * 32 == n * bits)
            return bits;
    return 0;
}

unsigned module_bits(const struct module *x, uint64_t elements)
{
    const struct tensor *t = module_data(x);
    return t && t->bytes % 4 == 0 ? bits_for(t->bytes / 4, elements) : 0;
}

bool module_holds(const struct module *x, uint8_t dims, const uint64_t *shape)
{
    uint64_t have[TENSOR_DIMS_MAX], a[TENSOR_DIMS_MAX], b[TENSOR_DIMS_MAX];
    uint8_t have_dims;
    const struct tensor *t = module_data(x);
    if (module_shape(x, &have_dims, have)) {
        uint8_t n = squeeze(have_dims, have, a);
        return n == squeeze(dims, shape, b) && !memcmp(a, b, n * sizeof *a);
    }
    if (!t || dims != 2)
        return false;
    if (x->role[MODULE_QWEIGHT] == t && t->dims == 2)
        return (t->shape[1] == shape[0] && bits_for(t->shape[0], shape[1])) || /* GPTQ */
               (t->shape[0] == shape[1] && bits_for(t->shape[1], shape[0]));   /* AWQ */
    if (x->role[MODULE_ABSMAX] || x->role[MODULE_TRELLIS])
        return module_bits(x, shape[0] * shape[1]) != 0;
    return t->dims == 2 && t->shape[0] == shape[0] && bits_for(t->shape[1], shape[1]);
}

/* --- formats */

static const char *lower(const struct tensor *t, char ret[MODULE_FORMAT_BYTES])
{
    const char *name = t->dtype == DTYPE_UNKNOWN ? "unknown" : dtype_name(t->dtype);
    size_t n = strlen(name);
    for (size_t i = 0; i <= n && i < MODULE_FORMAT_BYTES; i++)
        ret[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    ret[MODULE_FORMAT_BYTES - 1] = '\0';
    return ret;
}

/* The longest name, with 8 bits and a group of 2^20, is 28 bytes long. */
static const char *print(char ret[MODULE_FORMAT_BYTES], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
static const char *print(char ret[MODULE_FORMAT_BYTES], const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(ret, MODULE_FORMAT_BYTES, fmt, ap);
    va_end(ap);
    return n > 0 && n < MODULE_FORMAT_BYTES ? ret : strcpy(ret, "unknown");
}

/* What a scale covers of a matrix: a block, a group within a row, a row, or all of it. */
static const char *by_scale(const char *base, const struct tensor *w, const struct tensor *s,
                            char ret[MODULE_FORMAT_BYTES])
{
    uint64_t elements = tensor_elements(s);
    unsigned d = w->dims;
    if (elements == 1) {
        print(ret, "%s-tensor", base);
    } else if (d < 2 || !w->shape[d - 2] || !w->shape[d - 1]) {
        print(ret, "%s", base);
    } else if (elements == tensor_elements(w) / w->shape[d - 1] &&
               (s->dims < 2 || s->shape[s->dims - 1] == 1)) {
        print(ret, "%s-channel", base);
    } else if (s->dims == d && s->shape[d - 1] && s->shape[d - 2]) {
        /* Edge blocks are partial: the block's size is a power of two that gives this count. */
        unsigned long long rows = 1, cols = 1;
        while (rows < w->shape[d - 2] && (w->shape[d - 2] + rows - 1) / rows > s->shape[d - 2])
            rows *= 2;
        while (cols < w->shape[d - 1] && (w->shape[d - 1] + cols - 1) / cols > s->shape[d - 1])
            cols *= 2;
        if (rows == 1)
            print(ret, "%s-g%llu", base, cols);
        else
            print(ret, "%s-block-%llux%llu", base, rows, cols);
    } else {
        print(ret, "%s", base);
    }
    return ret;
}

static const char *packed_format(const struct module *x, const struct tensor *t, uint64_t elements,
                                 char ret[MODULE_FORMAT_BYTES])
{
    const struct tensor *s = x->role[MODULE_SCALE];
    unsigned bits = module_bits(x, elements);
    if (t->dtype == DTYPE_U8)
        return strcpy(ret, x->role[MODULE_GLOBAL_SCALE] ? "nvfp4-pack-quantized"
                           : s && (s->dtype == DTYPE_U8 || s->dtype == DTYPE_F8_E8M0)
                               ? "mxfp4-pack-quantized"
                               : "unknown");
    if (t->dtype != DTYPE_I32 || !bits || !s || s->dims != 2 || t->dims != 2 || !t->shape[0] ||
        !s->shape[1])
        return strcpy(ret, "unknown");
    uint64_t cols = elements / t->shape[0];
    if (s->shape[1] == 1)
        print(ret, "pack-quantized-int%u-channel", bits);
    else if (cols % s->shape[1] == 0 && cols / s->shape[1] <= 1u << 20)
        print(ret, "pack-quantized-int%u-g%u", bits, (unsigned)(cols / s->shape[1]));
    else
        return strcpy(ret, "unknown");
    return ret;
}

/* GPTQ packs down the rows of [in, out], so its zero points [groups, out * bits / 32] name the
 * bits; AWQ packs along the row, and has fewer words there than scales. */
static const char *qweight_format(const struct module *x, const struct tensor *t,
                                  char ret[MODULE_FORMAT_BYTES])
{
    const struct tensor *s = x->role[MODULE_SCALES], *z = x->role[MODULE_ZERO];
    if (!s || s->dims != 2 || t->dims != 2 || !s->shape[1] || s->shape[1] > UINT64_MAX / 32)
        return strcpy(ret, "unknown");
    bool gptq = t->shape[1] == s->shape[1];
    unsigned bits = !gptq               ? bits_for(t->shape[1], s->shape[1])
                    : z && z->dims == 2 ? bits_for(z->shape[1], s->shape[1])
                                        : 0;
    if (!bits)
        return strcpy(ret, "unknown");
    print(ret, "%s-int%u", gptq ? "gptq" : "awq", bits);
    return ret;
}

static const char *mlx_format(const struct module *x, const struct tensor *t, uint64_t elements,
                              char ret[MODULE_FORMAT_BYTES])
{
    const struct tensor *s = x->role[MODULE_SCALES];
    unsigned bits = module_bits(x, elements);
    uint64_t groups = tensor_elements(s);
    if (t->dtype != DTYPE_U32 || !bits || !groups || elements % groups ||
        elements / groups > 1u << 20)
        return strcpy(ret, "unknown");
    print(ret, "mlx-%s%u-g%u", x->role[MODULE_BIASES] ? "int" : "fp", bits,
          (unsigned)(elements / groups));
    return ret;
}

static const char *weight_format(const struct module *x, const struct tensor *t,
                                 char ret[MODULE_FORMAT_BYTES])
{
    const struct tensor *s =
        x->role[MODULE_SCALE_INV] ? x->role[MODULE_SCALE_INV] : x->role[MODULE_SCALE];
    bool f8 = t->dtype == DTYPE_F8_E4M3 || t->dtype == DTYPE_F8_E5M2 ||
              t->dtype == DTYPE_F8_E4M3FNUZ || t->dtype == DTYPE_F8_E5M2FNUZ;
    if (x->role[MODULE_ABSMAX])
        return strcpy(ret, t->dtype == DTYPE_U8 ? "bnb-nf4" : "unknown");
    if (x->role[MODULE_SCB])
        return strcpy(ret, t->dtype == DTYPE_I8 ? "bnb-int8" : "unknown");
    if (nibbles(x, t))
        return strcpy(ret, x->role[MODULE_SCALE_2] ? "modelopt-nvfp4" : "unknown");
    if (f8 && s && (s->dtype == DTYPE_U8 || s->dtype == DTYPE_F8_E8M0) && t->dims == 2 &&
        s->dims == 2 && s->shape[0] == t->shape[0] && s->shape[1] == (t->shape[1] + 31) / 32)
        return strcpy(ret, "mxfp8-quantized");
    if (f8)
        return s ? by_scale("fp8", t, s, ret) : strcpy(ret, "fp8");
    if (t->dtype == DTYPE_I8 && s)
        return by_scale("int8", t, s, ret);
    return lower(t, ret);
}

const char *module_format(const struct module *x, uint64_t elements, char ret[MODULE_FORMAT_BYTES])
{
    const struct tensor *t = module_data(x);
    if (!t)
        return strcpy(ret, "unknown");
    if (t->format) /* a block of GGUF has its scales in it */
        return print(ret, "%s", t->format);
    if (x->role[MODULE_PACKED] == t)
        return packed_format(x, t, elements, ret);
    if (x->role[MODULE_QWEIGHT] == t)
        return qweight_format(x, t, ret);
    if (x->role[MODULE_TRELLIS] == t)
        return strcpy(ret, "exl3");
    if (x->role[MODULE_BLOCKS] == t)
        return strcpy(ret, t->dtype == DTYPE_U8 && x->role[MODULE_BLOCK_SCALES] ? "mxfp4-blocks"
                                                                                : "unknown");
    if (x->role[MODULE_WEIGHT] == t)
        return x->role[MODULE_SCALES] ? mlx_format(x, t, elements, ret) : weight_format(x, t, ret);
    return lower(t, ret);
}
