#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/safetensors.h"
#include "core/text.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Parses a header from an exact allocation, so that AddressSanitizer sees a read past its end. */
static int parse_bytes(const char *header, size_t n, struct finding_list *f,
                       struct safetensors *ret, struct err *e)
{
    char *copy = malloc(n ? n : 1);

    assert_non_null(copy);
    memcpy(copy, header, n);
    int rc = safetensors_parse("model.safetensors", copy, n, f, ret, e);
    free(copy);
    return rc;
}

static void refused(const char *header, int code, const char *part)
{
    struct safetensors s;
    struct finding_list f = {0};
    struct err e = {0};
    int rc = parse_bytes(header, strlen(header), &f, &s, &e);

    if (rc != code)
        fail_msg("%s gave %d (%s), not %d", header, rc, e.msg, code);
    if (!strstr(e.msg, part))
        fail_msg("%s: the message lacks \"%s\": %s", header, part, e.msg);
    finding_list_release(&f);
}

/* Parses a header that must be valid; data_bytes is what the data must be. */
static struct safetensors taken(const char *header, uint64_t data_bytes)
{
    struct safetensors s;
    struct finding_list f = {0};
    struct err e = {0};
    size_t n = strlen(header);

    if (parse_bytes(header, n, &f, &s, &e))
        fail_msg("%s: %s", header, e.msg);
    assert_true(s.data_offset == 8 + n);
    assert_true(s.end_bytes == 8 + n + data_bytes);
    assert_int_equal(safetensors_check_size(&s, 8 + n + data_bytes, &e), 0);
    assert_int_equal(f.count, 0);
    finding_list_release(&f);
    return s;
}

static void a_header_is_read_whole(void **state)
{
    struct safetensors s =
        taken("{\"__metadata__\":{\"format\":\"pt\",\"\\u0061\":\"\"},"
              "\"z\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]},"
              "\"a\":{\"data_offsets\":[4,16],\"shape\":[2,3],\"dtype\":\"BF16\"}}",
              16);

    (void)state;
    assert_int_equal(s.count, 2);
    assert_string_equal(s.tensors[0].name, "z");
    assert_int_equal(s.tensors[0].dims, 0);
    assert_int_equal(s.tensors[0].bytes, 4);
    assert_true(s.tensors[0].offset == s.data_offset);
    assert_string_equal(s.tensors[1].name, "a");
    assert_string_equal(s.tensors[1].dtype_text, "BF16");
    assert_int_equal(s.tensors[1].dtype, DTYPE_BF16);
    assert_int_equal(s.tensors[1].dims, 2);
    assert_int_equal(s.tensors[1].shape[1], 3);
    assert_int_equal(s.tensors[1].bytes, 12);
    assert_true(s.tensors[1].offset == s.data_offset + 4);
    assert_int_equal(s.metadata_count, 2);
    assert_string_equal(s.metadata[0].value, "pt");
    assert_string_equal(s.metadata[1].key, "a");
    safetensors_release(&s);
}

/* The reference's own minimal cases (tensor.rs), and the limits around them. */
static void the_leading_length_is_checked(void **state)
{
    static const struct {
        const char *bytes;
        size_t n;
        uint64_t file_bytes;
        int code;
        const char *part;
    } t[] = {
        {"", 0, 0, ERR_FORMAT, "an empty file"}, /* HeaderTooSmall */
        {"\x3c\0\0\0\0\0\0", 7, 7, ERR_FORMAT, "too small"},
        {"\x3c\0\0\0\0\0\0\0", 8, 8, ERR_FORMAT, "is short"}, /* InvalidHeaderLength */
        {"\x06\0\0\0\0\0\0\0", 8, 13, ERR_FORMAT, "needs 14 bytes, the file has 13"},
        {"\x06\0\0\0\0\0\0\0", 8, 14, 0, ""},
        {"\0\xe1\xf5\x05\0\0\0\0", 8, 200000000, 0, ""},                    /* 100,000,000 */
        {"\x01\xe1\xf5\x05\0\0\0\0", 8, 200000000, ERR_LIMIT, "100000001"}, /* HeaderTooLarge */
        {"\xff\xff\xff\xff\xff\xff\xff\xff", 8, 100, ERR_LIMIT, "18446744073709551615"},
        {"\0\0\0\0\0\0\0\0", 8, 8, 0, ""},
        /* a length of 640 looks like a pickle's first bytes and is none */
        {"\x80\x02\0\0\0\0\0\0", 8, 1000, 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct err e = {0};
        uint64_t n = 77;
        int rc = safetensors_header_bytes(t[i].bytes, t[i].n, t[i].file_bytes, &n, &e);
        if (rc != t[i].code || (rc && !strstr(e.msg, t[i].part)))
            fail_msg("case %zu gave %d: %s", i, rc, e.msg);
        if (rc)
            assert_true(n == 77);
    }
}

static void other_formats_are_named(void **state)
{
    static const struct {
        const char *bytes;
        const char *part;
    } t[] = {{"version https://git-lfs.github.com/spec/v1\noid sha256:", "Git-LFS pointer"},
             {"version https://hawser.github.com/spec/v1\n", "Git-LFS pointer"},
             {"PK\x03\x04\x08\x08zzzz", "ZIP"},
             {"GGUF\x03zzzzzzzzz", "GGUF"},
             {"\x80\x02}q\x01zzzzzz", "pickle"},
             {"<html><body>404", "HTML"},
             {"\n<!DOCTYPE html>", "HTML"},
             {"<?xml version=\"1.0\"?><Error>", "XML"},
             {"\x93NUMPY\x01zzzzzzz", "NumPy"},
             {"\x89HDF\r\n\x1a\nzzz", "HDF5"},
             {"{\"error\":\"Repository not found\"}", "JSON"}};

    (void)state;
    for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
        struct err e = {0};
        uint64_t n;
        size_t len = strlen(t[i].bytes);
        assert_int_equal(safetensors_header_bytes(t[i].bytes, len, 1000000, &n, &e), ERR_FORMAT);
        if (!strstr(e.msg, t[i].part))
            fail_msg("case %zu: %s", i, e.msg);
        assert_non_null(safetensors_sniff(t[i].bytes, len));
    }
    assert_null(safetensors_sniff("\x10\0\0\0\0\0\0\0{\"a\"", 12));
    assert_null(safetensors_sniff("<", 1));
}

static void white_space_may_surround_and_nothing_else(void **state)
{
    struct safetensors s = taken("{}\r \t\n", 0); /* the reference's own case */

    (void)state;
    assert_int_equal(s.count, 0);
    safetensors_release(&s);
    s = taken("\t\n\r {\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}   ", 1);
    safetensors_release(&s);
    refused("\xef\xbb\xbf{}", ERR_FORMAT, "byte order mark");
    refused("{}\xef\xbb\xbf", ERR_FORMAT, "after the end");
    refused("{}x", ERR_FORMAT, "after the end");
    refused("{", ERR_FORMAT, "ends in the middle"); /* InvalidHeaderDeserialization */
    refused("", ERR_FORMAT, "no document");
    refused("\xff", ERR_FORMAT, "header"); /* InvalidHeader */
    refused("[]", ERR_FORMAT, "the header is an array");
    refused("{\"a\xff\":1}", ERR_FORMAT, "UTF-8");
    struct err e = {0};
    struct finding_list f = {0};
    assert_int_equal(parse_bytes("{}\0\0", 4, &f, &s, &e), ERR_FORMAT);
    assert_int_equal(parse_bytes("{}\0", 3, &f, &s, &e), ERR_FORMAT);
}

#define T(name, dtype, shape, begin, end)                                                        \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":[" begin "," end \
    "]}"

static void names_twice_are_refused(void **state)
{
    (void)state;
    refused("{" T("a", "U8", "[1]", "0", "1") "," T("a", "U8", "[1]", "1", "2") "}", ERR_FORMAT,
            "\"a\" stands twice");
    refused("{" T("a", "U8", "[1]", "0", "1") "," T("\\u0061", "U8", "[1]", "1", "2") "}",
            ERR_FORMAT, "\"a\" stands twice");
    refused("{" T("a", "U8", "[0]", "0", "0") "," T("a", "U8", "[0]", "0", "0") "}", ERR_FORMAT,
            "stands twice");
    refused("{\"a\":{\"dtype\":\"U8\",\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
            ERR_FORMAT, "\"dtype\" stands twice");
    refused("{\"__metadata__\":{},\"__metadata__\":{}}", ERR_FORMAT, "stands twice");
    refused("{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", ERR_FORMAT, "stands twice");
    refused("{" T("a\\u0000b", "U8", "[1]", "0", "1") "}", ERR_FORMAT, "\\u0000");
    struct safetensors s =
        taken("{" T("a", "U8", "[1]", "0", "1") "," T("A", "U8", "[1]", "1", "2") "}", 2);
    safetensors_release(&s);
}

static void metadata_is_text_only(void **state)
{
    (void)state;
    refused("{\"__metadata__\":{\"a\":1}}", ERR_FORMAT, "\"a\" with a whole number");
    refused("{\"__metadata__\":{\"a\":{\"b\":\"c\"}}}", ERR_FORMAT, "with an object");
    refused("{\"__metadata__\":[]}", ERR_FORMAT, "__metadata__ is an array");
    refused("{\"__metadata__\":{\"a\":null}}", ERR_FORMAT, "\"a\" with null");
    refused("{\"__metadata__\":\"pt\"}", ERR_FORMAT, "must be an object of texts");
    refused("{" T("__metadata__", "U8", "[1]", "0", "1") "}", ERR_FORMAT,
            "a tensor is named __metadata__");
    struct safetensors s = taken("{\"__metadata__\":null}", 0); /* as MLX writes adapters */
    assert_int_equal(s.metadata_count, 0);
    safetensors_release(&s);
}

static void descriptions_must_be_whole(void **state)
{
    (void)state;
    refused("{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", ERR_FORMAT, "\"a\": has no dtype");
    refused("{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", ERR_FORMAT, "has no shape");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", ERR_FORMAT, "has no data_offsets");
    refused("{\"a\":{}}", ERR_FORMAT, "has no dtype");
    refused("{\"a\":[]}", ERR_FORMAT, "its description is an array");
    refused("{\"a\":{\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]}}", ERR_FORMAT, "dtype is");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", ERR_FORMAT,
            "shape is");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[\"1\"],\"data_offsets\":[0,1]}}", ERR_FORMAT,
            "shape holds text");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", ERR_FORMAT, "offset");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", ERR_FORMAT,
            "a third offset");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{}}}", ERR_FORMAT,
            "data_offsets is an object");
}

static void numbers_must_be_whole_and_exact(void **state)
{
    (void)state;
    refused("{" T("a", "U8", "[1]", "0", "1.0") "}", ERR_FORMAT, "fraction");
    refused("{" T("a", "U8", "[1]", "0", "1e3") "}", ERR_FORMAT, "exponent");
    refused("{" T("a", "U8", "[1]", "-1", "0") "}", ERR_FORMAT, "negative");
    refused("{" T("a", "U8", "[1]", "0", "18446744073709551616") "}", ERR_FORMAT, "over 64 bits");
    refused("{" T("a", "U8", "[-1]", "0", "1") "}", ERR_FORMAT, "negative");
    refused("{" T("a", "U8", "[1.0]", "0", "1") "}", ERR_FORMAT, "fraction");
    /* 2^53 + 1, which a double would make 2^53 */
    refused("{" T("a", "U8", "[9007199254740992]", "0", "9007199254740993") "}", ERR_FORMAT,
            "9007199254740993");
    struct safetensors s = taken(
        "{" T("a", "U8", "[9007199254740993]", "0", "9007199254740993") "}", 9007199254740993);
    assert_true(s.tensors[0].bytes == 9007199254740993);
    safetensors_release(&s);
}

static void shapes_must_fit_their_offsets(void **state)
{
    (void)state;
    refused("{" T("a", "U8", "[1]", "2", "1") "}", ERR_FORMAT, "begins at 2, after its end at 1");
    refused("{" T("a", "F32", "[2]", "0", "7") "}", ERR_FORMAT,
            "takes 8 bytes, its offsets span 7");
    refused("{" T("a", "U8", "[2]", "0", "1") "}", ERR_FORMAT, "\"a\"");
    refused("{" T("a", "U8", "[]", "0", "0") "}", ERR_FORMAT, "takes 1 bytes"); /* a scalar */
    refused("{" T("a", "U8", "[2,18446744073709551614]", "0", "4") "}", ERR_FORMAT,
            "64 bits can count"); /* ValidationOverflow */
    refused("{" T("a", "I32", "[2,9223372036854775807]", "0", "4") "}", ERR_FORMAT,
            "64 bits can count");
    refused("{" T("a", "U8", "[18446744073709551615]", "0", "18446744073709551615") "}", ERR_FORMAT,
            "64 bits can count");
    refused("{" T("a", "F4", "[3]", "0", "2") "}", ERR_FORMAT, "12 bits"); /* MisalignedSlice */
    refused("{" T("a", "F6_E2M3", "[3]", "0", "3") "}", ERR_FORMAT, "18 bits");
    refused("{" T("a", "U8", "[1,1,1,1,1,1,1,1,1]", "0", "1") "}", ERR_LIMIT, "8 dimensions");
    struct safetensors s =
        taken("{" T("a", "F4", "[2,3]", "0", "3") "," T("b", "F6_E3M2", "[4]", "3", "6") "," T(
                  "c", "C64", "[1]", "6", "14") "}",
              14);
    safetensors_release(&s);
    s = taken("{" T("a", "U8", "[1,1,1,1,1,1,1,1]", "0", "1") "}", 1);
    safetensors_release(&s);
}

static void data_must_be_covered_once(void **state)
{
    (void)state;
    refused("{" T("a", "U8", "[1]", "1", "2") "}", ERR_FORMAT, "\"a\" leaves a gap");
    refused("{" T("a", "U8", "[1]", "0", "1") "," T("b", "U8", "[1]", "2", "3") "}", ERR_FORMAT,
            "\"b\" leaves a gap in front of it: data bytes 1 to 2");
    refused("{" T("a", "U8", "[2]", "0", "2") "," T("b", "U8", "[2]", "1", "3") "}", ERR_FORMAT,
            "\"b\" overlaps \"a\"");
    /* tied weights that share their bytes are refused by design */
    refused("{" T("a", "U8", "[2]", "0", "2") "," T("b", "U8", "[2]", "0", "2") "}", ERR_FORMAT,
            "\"b\" overlaps \"a\"");
    refused("{" T("a", "U8", "[2]", "0", "2") "," T("b", "U8", "[0]", "1", "1") "}", ERR_FORMAT,
            "overlaps");
    refused("{" T("a", "U8", "[2]", "0", "2") "," T("b", "U8", "[0]", "3", "3") "}", ERR_FORMAT,
            "gap");
}

static void tensors_of_no_bytes_may_stand_at_any_seam(void **state)
{
    struct safetensors s =
        taken("{" T("first", "F32", "[2,0]", "0", "0") "," T("x", "U8", "[2]", "0", "2") "," T(
                  "middle", "F32", "[0]", "2",
                  "2") "," T("again", "BF16", "[0,7]", "2",
                             "2") "," T("y", "U8", "[1]", "2", "3") "," T("last", "F4", "[0]", "3",
                                                                          "3") "}",
              3);

    (void)state;
    assert_int_equal(s.count, 6);
    safetensors_release(&s);
    s = taken("{" T("only", "F32", "[2,0]", "0", "0") "," T("too", "F32", "[0]", "0", "0") "}", 0);
    safetensors_release(&s);
    s = taken("{" T("scalar", "F32", "[]", "0", "4") "}", 4);
    safetensors_release(&s);
}

static void short_and_long_files_are_told_apart(void **state)
{
    struct safetensors s =
        taken("{" T("a", "U8", "[10]", "0", "10") "," T("b", "U8", "[5]", "10", "15") "}", 15);
    uint64_t end = s.end_bytes;
    struct err e = {0};

    (void)state;
    assert_int_equal(safetensors_check_size(&s, end + 1, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "is long"));
    assert_non_null(strstr(e.msg, "1 bytes at the end"));
    assert_int_equal(safetensors_check_size(&s, end - 2, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "is short"));
    assert_non_null(strstr(e.msg, "2 bytes are missing, from tensor \"b\" on"));
    assert_int_equal(safetensors_check_size(&s, end - 6, &e), ERR_FORMAT);
    assert_non_null(strstr(e.msg, "tensor \"a\""));
    safetensors_release(&s);
}

static void unknown_dtypes_and_members_are_findings(void **state)
{
    static const char header[] = "{" T("a", "F3_X", "[7]", "0", "3") "," T(
        "b", "F3_Y", "[9]", "3",
        "5") ","
             "\"c\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[5,6],\"new\":{\"x\":[1]}}}";
    struct safetensors s;
    struct finding_list f = {0};
    struct err e = {0};

    (void)state;
    assert_int_equal(parse_bytes(header, strlen(header), &f, &s, &e), 0);
    assert_int_equal(s.tensors[0].dtype, DTYPE_UNKNOWN);
    assert_string_equal(s.tensors[0].dtype_text, "F3_X");
    assert_int_equal(s.tensors[0].bytes, 3);
    assert_int_equal(f.count, 2);
    assert_string_equal(f.items[0].code, "dtype-unknown");
    assert_int_equal(f.items[0].severity, FINDING_WARN);
    assert_non_null(strstr(f.items[0].text, "model.safetensors: 2 tensors"));
    assert_string_equal(f.items[1].code, "header-member-unknown");
    assert_non_null(strstr(f.items[1].text, "\"new\""));
    safetensors_release(&s);
    finding_list_release(&f);
    /* the rest is still checked */
    refused("{" T("a", "F3_X", "[7]", "1", "3") "}", ERR_FORMAT, "gap");
    refused("{" T("a", "F3_X", "[4294967296,4294967296]", "0", "3") "}", ERR_FORMAT, "64 bits");
    refused("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"n\":1,\"n\":2}}",
            ERR_FORMAT, "\"n\" stands twice");
}

static void deep_nesting_is_a_limit_not_a_crash(void **state)
{
    size_t n = 2u << 20;
    char *doc = malloc(n + 1);

    (void)state;
    assert_non_null(doc);
    memcpy(doc, "{\"a\":", 5);
    memset(doc + 5, '[', n - 5);
    doc[n] = '\0';
    struct safetensors s;
    struct finding_list f = {0};
    struct err e = {0};
    assert_int_not_equal(parse_bytes(doc, n, &f, &s, &e), 0);
    memcpy(doc, "{\"a\":{\"x\":", 10);
    assert_int_equal(parse_bytes(doc, n, &f, &s, &e), ERR_LIMIT);
    free(doc);
}

/* Files that an independent writer (NumPy) made: every one must read, to its last byte. */
static void files_of_another_writer_are_read(void **state)
{
    const char *dir = getenv("GOLDEN");
    size_t files = 0;
    struct dirent *d;

    (void)state;
    if (!dir)
        dir = "../shared/golden";
    DIR *list = opendir(dir);
    if (!list) {
        print_message("skip: there are no golden files at %s\n", dir);
        skip();
    }
    while ((d = readdir(list))) {
        char path[4096];
        unsigned char first[8];
        struct err e = {0};
        struct safetensors s;
        struct finding_list found = {0};
        uint64_t n;
        if (!text_ends(d->d_name, ".safetensors"))
            continue;
        snprintf(path, sizeof(path), "%s/%s", dir, d->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        assert_int_equal(fseek(f, 0, SEEK_END), 0);
        uint64_t size = (uint64_t)ftell(f);
        rewind(f);
        assert_int_equal(fread(first, 1, 8, f), 8);
        assert_int_equal(safetensors_header_bytes(first, 8, size, &n, &e), 0);
        char *header = malloc(n);
        assert_int_equal(fread(header, 1, n, f), n);
        if (safetensors_parse(path, header, n, &found, &s, &e) ||
            safetensors_check_size(&s, size, &e))
            fail_msg("%s: %s", path, e.msg);
        assert_int_equal(found.count, 0);
        safetensors_release(&s);
        free(header);
        fclose(f);
        files++;
    }
    closedir(list);
    if (files == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_header_is_read_whole),
        cmocka_unit_test(the_leading_length_is_checked),
        cmocka_unit_test(other_formats_are_named),
        cmocka_unit_test(white_space_may_surround_and_nothing_else),
        cmocka_unit_test(names_twice_are_refused),
        cmocka_unit_test(metadata_is_text_only),
        cmocka_unit_test(descriptions_must_be_whole),
        cmocka_unit_test(numbers_must_be_whole_and_exact),
        cmocka_unit_test(shapes_must_fit_their_offsets),
        cmocka_unit_test(data_must_be_covered_once),
        cmocka_unit_test(tensors_of_no_bytes_may_stand_at_any_seam),
        cmocka_unit_test(short_and_long_files_are_told_apart),
        cmocka_unit_test(unknown_dtypes_and_members_are_findings),
        cmocka_unit_test(deep_nesting_is_a_limit_not_a_crash),
        cmocka_unit_test(files_of_another_writer_are_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
