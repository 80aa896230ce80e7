/* A policy that is accepted prints as a policy that is accepted and prints the same. */
#include "audit/policy.h"
#include "core/buf.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct policy first, second;
    struct buf once, twice;
    struct err e = {0};

    if (policy_parse((const char *)p, n, &first, &e)) {
        if (e.code == 0 || !e.msg[0])
            abort();
        return 0;
    }
    buf_init(&once, POLICY_BYTES_MAX);
    buf_init(&twice, POLICY_BYTES_MAX);
    policy_json(&first, &once);
    if (policy_parse(once.data, once.len, &second, &e))
        abort();
    policy_json(&second, &twice);
    if (once.over || strcmp(once.data, twice.data) != 0)
        abort();
    policy_release(&first);
    policy_release(&second);
    buf_release(&once);
    buf_release(&twice);
    return 0;
}
