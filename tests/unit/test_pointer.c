#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/pointer.h"
#include <string.h>

#define V "version https://git-lfs.github.com/spec/v1\n"
#define DIGEST "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
#define OID "oid sha256:" DIGEST "\n"

/* The specification's own example. */
static void a_pointer_gives_digest_and_size(void **state)
{
    static const char *const good[] = {
        V OID "size 12345\n", "version https://hawser.github.com/spec/v1\n" OID "size 12345\n",
        V "ext-0-foo sha256:" DIGEST "\n" OID "size 12345\n",
        "version https://git-lfs.github.com/spec/v1\r\noid sha256:" DIGEST "\r\nsize 12345\r\n"};
    struct pointer p;
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(pointer_looks(good[i], strlen(good[i])));
        if (pointer_parse(good[i], strlen(good[i]), &p, &e))
            fail_msg("case %zu: %s", i, e.msg);
        assert_string_equal(p.sha256, DIGEST);
        assert_true(p.size_bytes == 12345);
    }
}

static void damaged_pointers_are_refused(void **state)
{
    static const char *const bad[] = {
        V,
        V OID,
        V OID "size 12345",
        V "size 1\n" OID,
        V OID "size -1\n",
        V OID "size 1x\n",
        V OID "size 18446744073709551616\n",
        V OID "size 1\nmore 2\n",
        V OID "size 1\n\n",
        V "oid md5:" DIGEST "\nsize 1\n",
        V "oid sha256:" DIGEST "0\nsize 1\n",
        V "oid sha256:4D7A214614AB2935C943F9E0FF69D22EADBB8F32B1258DAAA5E2CA24D17E2393\nsize 1\n",
        "version https://git-lfs.github.com/spec/v2\n" OID "size 1\n",
        OID "size 1\n",
        "",
        V OID "size 1\n ",
        V OID "key 1\nsize 1\n"};
    struct pointer p = {.size_bytes = 7};
    struct err e = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (pointer_parse(bad[i], strlen(bad[i]), &p, &e) != ERR_FORMAT)
            fail_msg("case %zu was taken", i);
    assert_true(p.size_bytes == 7);
    assert_int_equal(pointer_parse(V "oid sha256:\0", sizeof(V) + 11, &p, &e), ERR_FORMAT);
    char big[POINTER_BYTES_MAX];
    memset(big, 'x', sizeof(big));
    assert_int_equal(pointer_parse(big, sizeof(big), &p, &e), ERR_LIMIT);
    assert_false(pointer_looks("version https://example.org/spec/v1", 35));
    assert_false(pointer_looks("version", 7));
}

static void words_say_what_to_do(void **state)
{
    char text[500];

    (void)state;
    pointer_words(V OID "size 12345\n", sizeof(V OID "size 12345\n") - 1, text, sizeof(text));
    assert_string_equal(text,
                        "is a Git-LFS pointer: the content was not fetched; expected sha256 " DIGEST
                        ", size 12345; run git lfs pull");
    pointer_words(V, sizeof(V) - 1, text, sizeof(text));
    assert_non_null(strstr(text, "damaged"));
    assert_non_null(strstr(text, "git lfs pull"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pointer_gives_digest_and_size),
        cmocka_unit_test(damaged_pointers_are_refused),
        cmocka_unit_test(words_say_what_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
