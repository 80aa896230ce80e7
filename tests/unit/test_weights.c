#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "model/weights.h"
#include "core/file.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct world {
    char dir[64], path[100];
    struct inventory inv;
    struct finding_list f;
    struct err e;
};

#define HEADER                                                                 \
    "{\"bf\":{\"dtype\":\"BF16\",\"shape\":[2,2],\"data_offsets\":[0,8]},"     \
    "\"f\":{\"dtype\":\"F32\",\"shape\":[40000],\"data_offsets\":[8,160008]}," \
    "\"h\":{\"dtype\":\"F16\",\"shape\":[],\"data_offsets\":[160008,160010]}," \
    "\"q\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[160010,160013]}}"

/* A folder with one shard: BF16 1, -2, 0.5, 3; floats 0, 1, 2 ...; a half 1.5; the bytes 7 8 9. */
static int make(void **state)
{
    struct world *w = calloc(1, sizeof(*w));
    size_t n = strlen(HEADER), size = 8 + n + 160013;
    unsigned char *bytes = calloc(1, size);
    static const unsigned char bf[] = {0x80, 0x3f, 0x00, 0xc0, 0x00, 0x3f, 0x40, 0x40};

    if (!w || !bytes)
        return -1;
    bytes[0] = (unsigned char)n;
    bytes[1] = (unsigned char)(n >> 8);
    memcpy(bytes + 8, HEADER, n);
    memcpy(bytes + 8 + n, bf, 8);
    for (int i = 0; i < 40000; i++) {
        float x = (float)i;
        memcpy(bytes + 8 + n + 8 + 4 * i, &x, 4);
    }
    memcpy(bytes + size - 5, "\x00\x3e\x07\x08\x09", 5);
    snprintf(w->dir, sizeof(w->dir), "/tmp/assay-weights-XXXXXX");
    if (!mkdtemp(w->dir))
        return -1;
    snprintf(w->path, sizeof(w->path), "%s/s.safetensors", w->dir);
    if (file_write(w->path, bytes, size, &w->e) ||
        inventory_add_safetensors(&w->inv, "s.safetensors", size, HEADER, n, &w->f, &w->e) ||
        inventory_finish(&w->inv, NULL, &w->f, &w->e)) {
        fprintf(stderr, "%s\n", w->e.msg);
        return -1;
    }
    free(bytes);
    *state = w;
    return 0;
}

static int drop(void **state)
{
    struct world *w = *state;

    unlink(w->path);
    rmdir(w->dir);
    inventory_release(&w->inv);
    finding_list_release(&w->f);
    free(w);
    return 0;
}

static void floats_are_read_from_any_element_on(void **state)
{
    struct world *w = *state;
    const struct tensor *t = inventory_find(&w->inv, "bf");
    float x[4];
    float *many = malloc(40000 * sizeof(*many));

    assert_non_null(many);
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 0, 4, x, &w->e), 0);
    assert_true(x[0] == 1 && x[1] == -2 && x[2] == 0.5f && x[3] == 3);
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 2, 2, x, &w->e), 0);
    assert_true(x[0] == 0.5f && x[1] == 3);
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 4, 0, x, &w->e), 0);
    /* more than one chunk */
    t = inventory_find(&w->inv, "f");
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 1, 39999, many, &w->e), 0);
    for (int i = 0; i < 39999; i++)
        if (many[i] != (float)(i + 1))
            fail_msg("element %d is %g", i + 1, (double)many[i]);
    assert_int_equal(
        weights_read_f32(w->dir, &w->inv, inventory_find(&w->inv, "h"), 0, 1, x, &w->e), 0);
    assert_true(x[0] == 1.5f);
    free(many);
}

static void bytes_are_read_as_stored(void **state)
{
    struct world *w = *state;
    const struct tensor *t = inventory_find(&w->inv, "q");
    unsigned char b[3];

    assert_int_equal(weights_read_bytes(w->dir, &w->inv, t, 0, 3, b, &w->e), 0);
    assert_memory_equal(b, "\x07\x08\x09", 3);
    assert_int_equal(weights_read_bytes(w->dir, &w->inv, t, 2, 1, b, &w->e), 0);
    assert_int_equal(b[0], 9);
}

static void more_than_there_is_is_refused(void **state)
{
    struct world *w = *state;
    const struct tensor *t = inventory_find(&w->inv, "bf");
    float x[8];

    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 0, 5, x, &w->e), ERR_USAGE);
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 5, 0, x, &w->e), ERR_USAGE);
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, UINT64_MAX, 2, x, &w->e), ERR_USAGE);
    assert_int_equal(weights_read_bytes(w->dir, &w->inv, t, 8, 1, x, &w->e), ERR_USAGE);
    assert_int_equal(weights_read_bytes(w->dir, &w->inv, t, UINT64_MAX, 2, x, &w->e), ERR_USAGE);
    assert_non_null(strstr(w->e.msg, "s.safetensors: tensor \"bf\""));
}

static void packed_formats_are_not_floats(void **state)
{
    struct world *w = *state;
    float x[3];

    assert_int_equal(
        weights_read_f32(w->dir, &w->inv, inventory_find(&w->inv, "q"), 0, 3, x, &w->e),
        ERR_UNSUPPORTED);
    assert_non_null(strstr(w->e.msg, "U8"));
}

static void a_file_that_changed_or_went_is_refused(void **state)
{
    struct world *w = *state;
    const struct tensor *t = inventory_find(&w->inv, "bf");
    float x[4];

    assert_int_equal(truncate(w->path, 160), 0);
    assert_int_equal(weights_read_f32(w->dir, &w->inv, t, 0, 4, x, &w->e), ERR_FORMAT);
    assert_non_null(strstr(w->e.msg, "changed"));
    assert_int_equal(unlink(w->path), 0);
    assert_int_equal(weights_read_bytes(w->dir, &w->inv, t, 0, 4, x, &w->e), ERR_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(floats_are_read_from_any_element_on, make, drop),
        cmocka_unit_test_setup_teardown(bytes_are_read_as_stored, make, drop),
        cmocka_unit_test_setup_teardown(more_than_there_is_is_refused, make, drop),
        cmocka_unit_test_setup_teardown(packed_formats_are_not_floats, make, drop),
        cmocka_unit_test_setup_teardown(a_file_that_changed_or_went_is_refused, make, drop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
