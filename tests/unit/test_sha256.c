#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "fingerprint/sha256.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* FIPS 180-4 examples as NIST publishes them, and the digest of nothing. */
static const struct {
    const char *text, *digest;
} vectors[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
     "lmnopqrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void assert_digest(const uint8_t digest[SHA256_BYTES], const char *expected)
{
    char hex[SHA256_TEXT_BYTES];

    assert_string_equal(sha256_text(digest, hex), expected);
}

static void fips_vectors_in_one_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(*vectors); i++) {
        uint8_t digest[SHA256_BYTES];
        struct err e = {0};
        assert_int_equal(sha256_of(vectors[i].text, strlen(vectors[i].text), digest, &e), 0);
        assert_digest(digest, vectors[i].digest);
    }
}

static void no_bytes_may_be_null(void **state)
{
    uint8_t digest[SHA256_BYTES];
    struct err e = {0};

    (void)state;
    assert_int_equal(sha256_of(NULL, 0, digest, &e), 0);
    assert_digest(digest, vectors[0].digest);
}

static void million_a_in_odd_pieces(void **state)
{
    char piece[997];
    uint8_t digest[SHA256_BYTES];
    struct sha256 s;
    struct err e = {0};

    (void)state;
    memset(piece, 'a', sizeof(piece));
    sha256_init(&s);
    for (size_t left = 1000000; left > 0;) {
        size_t n = left < sizeof(piece) ? left : sizeof(piece);
        sha256_update(&s, piece, n);
        left -= n;
    }
    assert_int_equal(sha256_final(&s, digest, &e), 0);
    assert_digest(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void final_ends_it_and_init_starts_anew(void **state)
{
    uint8_t digest[SHA256_BYTES];
    struct sha256 s;
    struct err e = {0};

    (void)state;
    sha256_init(&s);
    sha256_update(&s, "xyz", 3);
    assert_int_equal(sha256_final(&s, digest, &e), 0);
    memset(digest, 0x5a, sizeof(digest));
    assert_int_equal(sha256_final(&s, digest, &e), ERR_UNSUPPORTED);
    assert_int_equal(digest[0], 0x5a);
    assert_non_null(strstr(e.msg, "SHA-256"));
    sha256_release(&s);
    sha256_release(&s);
    sha256_init(&s);
    sha256_update(&s, "abc", 3);
    assert_int_equal(sha256_final(&s, digest, &e), 0);
    assert_digest(digest, vectors[1].digest);
}

static void random_bytes_agree_with_sha256sum(void **state)
{
    (void)state;
    srand(20261129);
    for (int round = 0; round < 12; round++) {
        char path[] = "/tmp/test_sha256.XXXXXX", cmd[128], expected[SHA256_TEXT_BYTES] = "";
        size_t n = (size_t)rand() % 70000;
        uint8_t *bytes = malloc(n + 1), digest[SHA256_BYTES];
        struct err e = {0};
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(rand() >> 7);
        int fd = mkstemp(path);
        assert_true(fd >= 0);
        assert_int_equal(write(fd, bytes, n), (ssize_t)n);
        close(fd);
        snprintf(cmd, sizeof(cmd), "sha256sum <%s", path);
        FILE *f = popen(cmd, "r");
        assert_non_null(f);
        assert_int_equal(fread(expected, 1, SHA256_TEXT_BYTES - 1, f), SHA256_TEXT_BYTES - 1);
        pclose(f);
        unlink(path);
        assert_int_equal(sha256_of(bytes, n, digest, &e), 0);
        free(bytes);
        assert_digest(digest, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fips_vectors_in_one_call),
        cmocka_unit_test(no_bytes_may_be_null),
        cmocka_unit_test(million_a_in_odd_pieces),
        cmocka_unit_test(final_ends_it_and_init_starts_anew),
        cmocka_unit_test(random_bytes_agree_with_sha256sum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
