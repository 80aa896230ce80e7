/* A conformance file as it may come from anywhere: the check ends in a result whose parts agree, or
 * in an error with words. */
#include "core/cpu.h"
#include "stress/conformance.h"
#include <assert.h>
#include <math.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
    struct conformance_result r;
    struct err e = {0};

    if (conformance_check(p, n, cpu_features(), &r, &e) != 0) {
        assert(e.code == ERR_LIMIT && e.msg[0]);
        return 0;
    }
    unsigned wrong = 0;
    for (size_t i = 0; i < r.output_count; i++) {
        assert(r.outputs[i].ok == (r.outputs[i].error <= r.outputs[i].tolerance));
        assert(!isnan(r.outputs[i].error));
        wrong += !r.outputs[i].ok;
    }
    if (r.state == CONFORMANCE_PASS || r.state == CONFORMANCE_FAIL)
        assert(r.output_count > 0 && (wrong > 0) == (r.state == CONFORMANCE_FAIL) && r.op[0]);
    else
        assert(r.output_count == 0 && r.reason[0]);
    return 0;
}
