#ifndef FINGERPRINT_SHA256_H
#define FINGERPRINT_SHA256_H
#include "core/err.h"
#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4), computed by OpenSSL's libcrypto, which uses the CPU's SHA extensions. */

#define SHA256_BYTES 32
#define SHA256_TEXT_BYTES (2 * SHA256_BYTES + 1) /* as hex digits, with the NUL */

struct evp_md_ctx_st;

/* A digest in the making. A failure inside libcrypto (no memory, a provider that refuses) is
 * remembered, and sha256_final makes an error of it: no check is needed at each update. */
struct sha256 {
    struct evp_md_ctx_st *ctx; /* NULL after a failure, after final and after release */
};

void sha256_init(struct sha256 *s);
void sha256_update(struct sha256 *s, const void *bytes, size_t n);
/* The digest of everything since init, and the end of s: init it again before another use.
 * ERR_UNSUPPORTED if libcrypto failed at any time since. */
int sha256_final(struct sha256 *s, uint8_t ret[SHA256_BYTES], struct err *e);
/* Drops a digest that is not wanted any more. Harmless after sha256_final. */
void sha256_release(struct sha256 *s);

/* The digest of n bytes in one call. bytes may be NULL when n is 0. */
int sha256_of(const void *bytes, size_t n, uint8_t ret[SHA256_BYTES], struct err *e);

/* Lowercase hex digits, as sha256sum prints them. Returns ret. */
const char *sha256_text(const uint8_t digest[SHA256_BYTES], char ret[SHA256_TEXT_BYTES]);

#endif
