/* Feeds each file named on the command line to a fuzz target: a fuzz corpus as a test. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f || fseek(f, 0, SEEK_END) != 0) {
            fprintf(stderr, "%s: cannot read\n", argv[i]);
            return 1;
        }
        long size = ftell(f);
        rewind(f);
        /* an exact allocation, so that AddressSanitizer sees a read past the end */
        uint8_t *bytes = malloc(size > 0 ? (size_t)size : 1);
        if (!bytes || fread(bytes, 1, (size_t)size, f) != (size_t)size)
            return 1;
        fclose(f);
        LLVMFuzzerTestOneInput(bytes, (size_t)size);
        free(bytes);
    }
    return argc > 1 ? 0 : 1;
}
