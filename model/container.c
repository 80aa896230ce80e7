#include "model/container.h"
#include "core/text.h"
#include "model/gguf.h"
#include "model/pointer.h"
#include "model/safetensors.h"
#include <string.h>

static const struct {
    const char *one, *many;
} words[CONTAINERS] = {
    [CONTAINER_UNKNOWN] = {"nothing known", "nothing known"},
    [CONTAINER_EMPTY] = {"an empty file", "empty files"},
    [CONTAINER_POINTER] = {"a Git-LFS pointer", "Git-LFS pointers"},
    [CONTAINER_SAFETENSORS] = {"a safetensors file", "safetensors files"},
    [CONTAINER_GGUF] = {"a GGUF file", "GGUF files"},
    [CONTAINER_GGML] = {"a ggml file from before GGUF", "ggml files from before GGUF"},
    [CONTAINER_TORCH_ZIP] = {"a PyTorch archive (a ZIP with pickles in it)", "PyTorch archives"},
    [CONTAINER_TORCH_OLD] = {"a PyTorch file of the old kind (pickles)", "PyTorch pickles"},
    [CONTAINER_PICKLE] = {"a Python pickle", "Python pickles"},
    [CONTAINER_ZIP] = {"a ZIP archive", "ZIP archives"},
    [CONTAINER_NUMPY] = {"a NumPy array", "NumPy arrays"},
    [CONTAINER_HDF5] = {"an HDF5 file (Keras, TensorFlow)", "HDF5 files"},
    [CONTAINER_FLAX] = {"a Flax file (msgpack)", "Flax files"},
    [CONTAINER_SAVED_MODEL] = {"a TensorFlow SavedModel", "TensorFlow SavedModels"},
    [CONTAINER_TFLITE] = {"a TensorFlow Lite model", "TensorFlow Lite models"},
    [CONTAINER_ONNX] = {"an ONNX model", "ONNX models"},
    [CONTAINER_ONNX_DATA] = {"the external data of an ONNX model", "external data of ONNX models"},
    [CONTAINER_OPENVINO] = {"an OpenVINO model", "OpenVINO models"},
    [CONTAINER_OPENVINO_DATA] = {"the weights of an OpenVINO model", "weights of OpenVINO models"},
};

const char *container_name(enum container c)
{
    return words[(unsigned)c < CONTAINERS ? c : CONTAINER_UNKNOWN].one;
}

const char *container_names(enum container c)
{
    return words[(unsigned)c < CONTAINERS ? c : CONTAINER_UNKNOWN].many;
}

bool container_unsafe(enum container c)
{
    return c == CONTAINER_TORCH_ZIP || c == CONTAINER_TORCH_OLD || c == CONTAINER_PICKLE;
}

static bool magic(const unsigned char *p, size_t n, size_t at, const char *bytes, size_t count)
{
    return n >= at + count && memcmp(p + at, bytes, count) == 0;
}

static bool has(const unsigned char *p, size_t n, const char *word)
{
    return memmem(p, n, word, strlen(word)) != NULL;
}

/* An archive of torch.save has data.pkl among its first entries, or is told by the name of the
 * first, which stands at byte 30. */
static enum container zip_of(const unsigned char *p, size_t n)
{
    static const char *const torch[] = {"/byteorder", "/version", "/.format_version", "/data/"};

    if (has(p, n, "data.pkl"))
        return CONTAINER_TORCH_ZIP;
    if (n < 30)
        return CONTAINER_ZIP;
    size_t bytes = (size_t)p[26] | (size_t)p[27] << 8;
    if (bytes > n - 30)
        bytes = n - 30;
    for (size_t i = 0; i < sizeof(torch) / sizeof(torch[0]); i++)
        if (has(p + 30, bytes, torch[i]))
            return CONTAINER_TORCH_ZIP;
    return CONTAINER_ZIP;
}

/* pickle.dump of torch's magic number 0x1950a86a20f9469cfc6c. */
static bool torch_old(const unsigned char *p, size_t n)
{
    return magic(p, n, 2, "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 12);
}

/* Formats without a magic number: a protobuf message that starts with field 1 as a small number,
 * or a map of texts. */
static enum container by_shape(const char *name, const unsigned char *p, size_t n)
{
    bool message = n >= 3 && p[0] == 0x08 && p[1] > 0 && p[1] < 0x80 && (p[2] & 7) == 2;
    bool map = n >= 2 && ((p[0] > 0x80 && p[0] <= 0x8f && (p[1] >> 5 == 5 || p[1] == 0xd9)) ||
                          p[0] == 0xde || p[0] == 0xdf);

    if (message && text_ends(name, ".onnx"))
        return CONTAINER_ONNX;
    if (message && text_ends(name, "saved_model.pb"))
        return CONTAINER_SAVED_MODEL;
    if (map && text_ends(name, ".msgpack"))
        return CONTAINER_FLAX;
    if (text_ends(name, ".onnx_data") || text_ends(name, ".onnx.data"))
        return CONTAINER_ONNX_DATA;
    if (text_starts(name, "openvino_") && text_ends(name, ".bin"))
        return CONTAINER_OPENVINO_DATA;
    return CONTAINER_UNKNOWN;
}

enum container container_of(const char *name, const void *first, size_t n, uint64_t file_bytes)
{
    static const char *const old[] = {"lmgg", "fmgg", "tjgg", "algg", "GGML", "GGMF", "GGJT"};
    const unsigned char *p = first;
    uint64_t header;
    struct err e = {0};

    if (n == 0)
        return CONTAINER_EMPTY;
    if (pointer_looks(p, n))
        return CONTAINER_POINTER;
    if (gguf_looks(p, n))
        return CONTAINER_GGUF;
    /* A length may look like a magic number, but not with an object behind it. */
    if (n > SAFETENSORS_PREFIX_BYTES && p[SAFETENSORS_PREFIX_BYTES] == '{' &&
        safetensors_header_bytes(p, n, file_bytes, &header, &e) == 0)
        return CONTAINER_SAFETENSORS;
    for (size_t i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        if (magic(p, n, 0, old[i], 4))
            return CONTAINER_GGML;
    if (magic(p, n, 0, "PK\x03\x04", 4))
        return zip_of(p, n);
    if (n >= 2 && p[0] == 0x80 && p[1] >= 2 && p[1] <= 5)
        return torch_old(p, n) ? CONTAINER_TORCH_OLD : CONTAINER_PICKLE;
    if (magic(p, n, 0, "\x93NUMPY", 6))
        return CONTAINER_NUMPY;
    if (magic(p, n, 0, "\x89HDF\r\n\x1a\n", 8))
        return CONTAINER_HDF5;
    if (magic(p, n, 4, "TFL3", 4))
        return CONTAINER_TFLITE;
    if (magic(p, n, 0, "<?xml", 5) && has(p, n, "<net "))
        return CONTAINER_OPENVINO;
    return by_shape(name, p, n);
}
