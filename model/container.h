#ifndef MODEL_CONTAINER_H
#define MODEL_CONTAINER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What kind of file holds weights, by its first bytes. */

enum container {
    CONTAINER_UNKNOWN, /* nothing that is known here */
    CONTAINER_EMPTY,
    CONTAINER_POINTER, /* Git-LFS */
    CONTAINER_SAFETENSORS,
    CONTAINER_GGUF,
    CONTAINER_GGML,        /* the formats before GGUF: ggml, ggmf, ggjt, ggla */
    CONTAINER_TORCH_ZIP,   /* torch.save since 1.6: a ZIP archive with pickles in it */
    CONTAINER_TORCH_OLD,   /* torch.save before that: pickles one behind the other */
    CONTAINER_PICKLE,      /* another pickle */
    CONTAINER_ZIP,         /* another ZIP archive */
    CONTAINER_NUMPY,       /* .npy */
    CONTAINER_HDF5,        /* Keras, TensorFlow */
    CONTAINER_FLAX,        /* msgpack */
    CONTAINER_SAVED_MODEL, /* TensorFlow */
    CONTAINER_TFLITE,
    CONTAINER_ONNX,
    CONTAINER_ONNX_DATA, /* weights beside a .onnx file */
    CONTAINER_OPENVINO,  /* .xml */
    CONTAINER_OPENVINO_DATA,
    CONTAINERS
};

#define CONTAINER_BYTES 1024 /* first bytes that are plenty */

/* first: the first n bytes of the file (CONTAINER_BYTES, or all of a shorter file). Where a format
 * has no magic number (ONNX, msgpack, raw weights beside a graph), name decides together with what
 * the bytes look like. */
enum container container_of(const char *name, const void *first, size_t n, uint64_t file_bytes);

/* "a GGUF file", "a PyTorch archive"; of CONTAINER_UNKNOWN "nothing known". */
const char *container_name(enum container c);
/* The same of several files: "GGUF files", "PyTorch archives". */
const char *container_names(enum container c);

/* True if reading it can run code that it brings: pickles, alone or in an archive. */
bool container_unsafe(enum container c);

#endif
