#include "fingerprint/sha256.h"
#include "core/text.h"
#include <openssl/evp.h>

void sha256_init(struct sha256 *s)
{
    s->ctx = EVP_MD_CTX_new();
    if (s->ctx && EVP_DigestInit_ex(s->ctx, EVP_sha256(), NULL) != 1)
        sha256_release(s);
}

void sha256_update(struct sha256 *s, const void *bytes, size_t n)
{
    if (s->ctx && n > 0 && EVP_DigestUpdate(s->ctx, bytes, n) != 1)
        sha256_release(s);
}

int sha256_final(struct sha256 *s, uint8_t ret[SHA256_BYTES], struct err *e)
{
    uint8_t digest[SHA256_BYTES];
    unsigned n = 0;

    if (!s->ctx || EVP_DigestFinal_ex(s->ctx, digest, &n) != 1 || n != SHA256_BYTES) {
        sha256_release(s);
        return err_set(e, ERR_UNSUPPORTED,
                       "libcrypto cannot compute SHA-256 here; check its providers and memory");
    }
    sha256_release(s);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        ret[i] = digest[i];
    return 0;
}

void sha256_release(struct sha256 *s)
{
    EVP_MD_CTX_free(s->ctx);
    s->ctx = NULL;
}

int sha256_of(const void *bytes, size_t n, uint8_t ret[SHA256_BYTES], struct err *e)
{
    struct sha256 s;

    sha256_init(&s);
    sha256_update(&s, bytes, n);
    return sha256_final(&s, ret, e);
}

const char *sha256_text(const uint8_t digest[SHA256_BYTES], char ret[SHA256_TEXT_BYTES])
{
    text_hex(digest, SHA256_BYTES, ret);
    return ret;
}
