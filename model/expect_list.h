#ifndef MODEL_EXPECT_LIST_H
#define MODEL_EXPECT_LIST_H
#include "model/expect.h"

/* Appending to a list of parameters. */

/* One of the given shape; cols 0: a vector, taps 0: no third dimension. The name says what follows
 * its base; a * in it stands for the number of an expert. */
struct expect *expect_list_add(struct expect_list *l, enum quant_class class, uint64_t rows,
                               uint64_t cols, uint64_t taps, const char *fmt, ...)
    __attribute__((format(printf, 6, 7)));
/* "dir.name.weight" of rows x cols, and the vector "dir.name" of n values. */
void expect_list_matrix(struct expect_list *l, enum quant_class class, const char *dir,
                        const char *name, uint64_t rows, uint64_t cols);
void expect_list_vector(struct expect_list *l, const char *dir, const char *name, uint64_t n);

#endif
