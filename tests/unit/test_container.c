#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/container.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define B(text) text, sizeof(text) - 1

/* Magic numbers of the formats' own descriptions; the names lie where bytes decide. */
static void first_bytes_decide(void **state)
{
    static const struct {
        const char *name, *bytes;
        size_t n;
        enum container want;
    } t[] = {
        {"x.bin", B(""), CONTAINER_EMPTY},
        {"x.bin", B("version https://git-lfs.github.com/spec/v1\noid"), CONTAINER_POINTER},
        {"x.bin", B("GGUF\3\0\0\0"), CONTAINER_GGUF},
        {"x.bin", B("lmgg\1\0\0\0"), CONTAINER_GGML},
        {"x.gguf", B("tjgg\3\0\0\0"), CONTAINER_GGML},
        {"x.bin", B("\2\0\0\0\0\0\0\0{}"), CONTAINER_SAFETENSORS},
        {"x.safetensors", B("\xff\0\0\0\0\0\0\0{}"), CONTAINER_UNKNOWN},
        {"x.bin", B("PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0archive/data.pkl"),
         CONTAINER_TORCH_ZIP},
        {"x.pt", B("PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.npy"),
         CONTAINER_ZIP},
        {"x.pt", B("PK\3\4"), CONTAINER_ZIP},
        {"x.pt", B("PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xff\0\0"),
         CONTAINER_ZIP},
        {"x.bin", B("\x80\2\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."),
         CONTAINER_TORCH_OLD},
        {"x.bin", B("\x80\2}q\0."), CONTAINER_PICKLE},
        {"x.pkl", B("\x80\4\x95"), CONTAINER_PICKLE},
        {"x.h5", B("\x93NUMPY\1\0"), CONTAINER_NUMPY},
        {"x.bin", B("\x89HDF\r\n\x1a\n"), CONTAINER_HDF5},
        {"x.bin", B("\x1c\0\0\0TFL3"), CONTAINER_TFLITE},
        {"m.xml", B("<?xml version=\"1.0\"?>\n<net name=\"x\" version=\"11\">"),
         CONTAINER_OPENVINO},
        {"m.xml", B("<?xml version=\"1.0\"?>\n<html>"), CONTAINER_UNKNOWN},
        {"x.pt", B("\x89PNG\r\n\x1a\n"), CONTAINER_UNKNOWN},
        {"x.bin", B("abc"), CONTAINER_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        char *copy = malloc(t[i].n ? t[i].n : 1);
        assert_non_null(copy);
        memcpy(copy, t[i].bytes, t[i].n);
        enum container c = container_of(t[i].name, copy, t[i].n, t[i].n);
        free(copy);
        if (c != t[i].want)
            fail_msg("case %zu (%s) is %s", i, t[i].name, container_name(c));
    }
}

static void without_a_magic_number_bytes_and_name_decide(void **state)
{
    static const char onnx[] = "\x08\x07\x12\x07pytorch";

    (void)state;
    assert_int_equal(container_of("m.onnx", B(onnx), 100), CONTAINER_ONNX);
    assert_int_equal(container_of("m.bin", B(onnx), 100), CONTAINER_UNKNOWN);
    assert_int_equal(container_of("m.onnx", B("hello"), 100), CONTAINER_UNKNOWN);
    assert_int_equal(container_of("m.onnx_data", B("\1\2\3"), 100), CONTAINER_ONNX_DATA);
    assert_int_equal(container_of("saved_model.pb", B("\x08\1\x12\4"), 9), CONTAINER_SAVED_MODEL);
    assert_int_equal(container_of("flax_model.msgpack", B("\x82\xa4lm_h"), 9), CONTAINER_FLAX);
    assert_int_equal(container_of("x.msgpack", B("\x80\2"), 2), CONTAINER_PICKLE);
    assert_int_equal(container_of("openvino_model.bin", B("\1\2\3"), 9), CONTAINER_OPENVINO_DATA);
}

static void what_runs_code_is_called_unsafe(void **state)
{
    (void)state;
    for (int c = 0; c < CONTAINERS; c++) {
        bool pickles = strstr(container_name((enum container)c), "pickle") != NULL;
        assert_int_equal(container_unsafe((enum container)c), pickles);
        assert_non_null(container_names((enum container)c));
    }
}

/* Real files of other people's tests, by the kind that their makers give. */
static void real_files_are_told_apart(void **state)
{
    static const struct {
        const char *path;
        enum container want;
    } t[] = {{"pkl-burn-mnist/mnist.pt", CONTAINER_TORCH_ZIP},
             {"pkl-candle/test.pt", CONTAINER_TORCH_ZIP},
             {"pkl-modelaudit/malicious_eval.pt", CONTAINER_TORCH_ZIP},
             {"pkl-modelaudit/safe_model.h5", CONTAINER_HDF5},
             {"pkl-picklescan-malicious/pytorch_model.bin", CONTAINER_TORCH_OLD},
             {"pkl-picklescan-malicious/pytorch_magic_bypass.pt", CONTAINER_PICKLE},
             {"pkl-picklescan-malicious/bad_pytorch.pt", CONTAINER_UNKNOWN},
             {"mal-burn-broken-pt/broken.pt", CONTAINER_UNKNOWN},
             {"mal-ggml-legacy-magic/legacy_model.ggml", CONTAINER_GGML},
             {"ggml-whisper-ggml-tiny/for-tests-ggml-tiny.bin", CONTAINER_GGML},
             {"gguf-superpoint/superpoint.gguf", CONTAINER_GGUF},
             {"st-burn-mnist/mnist.safetensors", CONTAINER_SAFETENSORS},
             {"lfs-phowhisper-tiny/onnx/encoder_model.onnx", CONTAINER_POINTER}};
    const char *corpus = getenv("CORPUS");
    char path[600], first[CONTAINER_BYTES];
    size_t seen = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", corpus ? corpus : "../shared/corpus", t[i].path);
        FILE *f = fopen(path, "rb");
        if (!f)
            continue;
        size_t n = fread(first, 1, sizeof(first), f);
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        enum container c = container_of(path, first, n, (uint64_t)ftell(f));
        fclose(f);
        if (c != t[i].want)
            fail_msg("%s is %s", t[i].path, container_name(c));
        seen++;
    }
    if (seen == 0) {
        print_message("skip: no corpus\n");
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_bytes_decide),
        cmocka_unit_test(without_a_magic_number_bytes_and_name_decide),
        cmocka_unit_test(what_runs_code_is_called_unsafe),
        cmocka_unit_test(real_files_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
