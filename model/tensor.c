#include "model/tensor.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

uint64_t tensor_elements(const struct tensor *t)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < t->dims; i++)
        n *= t->shape[i];
    return n;
}

const char *tensor_shape_text(const struct tensor *t, char *ret, size_t ret_bytes)
{
    /* 8 numbers of 20 digits, their commas and the brackets */
    char text[TENSOR_DIMS_MAX * 22 + 3];
    size_t used = 0;

    text[used++] = '[';
    for (unsigned i = 0; i < t->dims && i < TENSOR_DIMS_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%" PRIu64, i ? ", " : "",
                                 t->shape[i]);
    text[used++] = ']';
    text[used] = '\0';
    if (ret_bytes == 0)
        return ret;
    size_t n = used < ret_bytes ? used : ret_bytes - 1;
    memcpy(ret, text, n);
    ret[n] = '\0';
    if (n < used) {
        size_t dots = n < 3 ? n : 3;
        memset(ret + n - dots, '.', dots);
    }
    return ret;
}
