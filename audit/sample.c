#include "audit/sample.h"
#include "audit/sample_plan.h"
#include "core/buf.h"
#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"
#include "model/safetensors_write.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHARDS 3
#define SHARD_BYTES_MAX (64u << 20)

static const char config_text[] = {
#include "audit/sample_config.json.inc"
    0};

/* xorshift64*, seeded by splitmix64 (Vigna): small, integers only. */
static uint64_t next(uint64_t *s)
{
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * 0x2545f4914f6cdd1dull;
}

static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* About normal, mean 0 and variance 1: four uniform numbers of 16 bits. Their sum has mean 2 and
 * variance 4/12, hence the square root of 3. */
static float noise(uint64_t *s)
{
    uint64_t r = next(s);
    uint64_t sum = (r & 0xffff) + (r >> 16 & 0xffff) + (r >> 32 & 0xffff) + (r >> 48);

    return ((float)sum * (1.0f / 65536.0f) - 2.0f) * 1.7320508f;
}

static void add_value(struct buf *b, enum dtype t, float x)
{
    uint32_t u;

    memcpy(&u, &x, 4);
    if (t == DTYPE_BF16) {
        u = (u + 0x7fff + (u >> 16 & 1)) >> 16; /* round to nearest even */
        buf_add(b, (uint8_t[]){(uint8_t)u, (uint8_t)(u >> 8)}, 2);
        return;
    }
    buf_add(b, (uint8_t[]){(uint8_t)u, (uint8_t)(u >> 8), (uint8_t)(u >> 16), (uint8_t)(u >> 24)},
            4);
}

static void add_data(struct buf *b, const struct sample_plan_tensor *t, uint64_t seed)
{
    uint64_t s = mix(seed);

    for (const char *p = t->name; *p; p++)
        s = mix(s ^ (unsigned char)*p);
    s |= 1;
    for (uint64_t i = 0; i < t->elements; i++) {
        if (t->dtype == DTYPE_U8)
            buf_addc(b, (char)(t->spread > 0 ? t->centre + (float)(next(&s) >> 60) * t->spread
                                             : (float)(next(&s) >> 56)));
        else
            add_value(b, t->dtype, i < t->real ? t->centre + t->spread * noise(&s) : 0.0f);
    }
}

/* Header and data of one shard. The plan has the shard's tensors in the order of their names, which
 * is the order in which safetensors_write_header wants their data. */
static int write_shard(const char *dir, const struct sample_plan *p, unsigned shard, uint64_t seed,
                       uint64_t *ret_bytes, struct err *e)
{
    struct safetensors_write_tensor *entries = mem_alloc(p->count, sizeof(*entries));
    const struct safetensors_pair format = {"format", "pt"};
    char name[64], path[FILE_PATH_BYTES];
    struct buf b;
    size_t n = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct sample_plan_tensor *t = &p->tensors[i];
        if (t->shard != shard)
            continue;
        entries[n] = (struct safetensors_write_tensor){
            .name = t->name, .dtype = t->dtype, .dims = (uint8_t)t->dims};
        memcpy(entries[n++].shape, t->shape, sizeof(t->shape));
    }
    buf_init(&b, SHARD_BYTES_MAX);
    int rc = safetensors_write_header(entries, n, &format, 1, &b, e);
    free(entries);
    for (size_t i = 0; i < p->count && !rc; i++)
        if (p->tensors[i].shard == shard)
            add_data(&b, &p->tensors[i], seed);
    snprintf(name, sizeof(name), SAMPLE_PLAN_SHARD_NAME, shard + 1, SHARDS);
    if (!rc)
        rc = buf_check(&b, name, e);
    if (!rc)
        rc = file_join(dir, name, path, e);
    if (!rc)
        rc = file_write(path, b.data, b.len, e);
    *ret_bytes += b.len;
    buf_release(&b);
    return rc;
}

static int write_index(const char *dir, const struct sample_plan *p, struct err *e)
{
    struct cJSON *doc = json_object();
    struct cJSON *meta = json_add_object(doc, "metadata");
    struct cJSON *map = json_add_object(doc, "weight_map");
    char name[64], path[FILE_PATH_BYTES];
    struct buf b;
    int rc;

    json_add_u64(meta, "total_size", p->total_bytes);
    for (size_t i = 0; i < p->count; i++) {
        snprintf(name, sizeof(name), SAMPLE_PLAN_SHARD_NAME, p->tensors[i].shard + 1, SHARDS);
        json_add_text(map, p->tensors[i].name, name);
    }
    buf_init(&b, 4u << 20);
    json_print(doc, false, &b);
    json_free(doc);
    rc = buf_check(&b, "the index", e);
    if (!rc)
        rc = file_join(dir, "model.safetensors.index.json", path, e);
    if (!rc)
        rc = file_write(path, b.data, b.len, e);
    buf_release(&b);
    return rc;
}

static int check_empty(const char *dir, struct err *e)
{
    DIR *d = opendir(dir);
    struct dirent *entry;
    int found = 0;

    if (!d)
        return err_set(e, ERR_IO, "%s: %s", dir, strerror(errno));
    while ((entry = readdir(d)) && !found)
        found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(d);
    if (found)
        return err_set(e, ERR_USAGE, "%s is not empty; name a new folder, or say --force", dir);
    return 0;
}

int sample_write(const char *dir, uint64_t seed, bool force, struct sample_result *ret,
                 struct err *e)
{
    struct sample_plan p = {0};
    uint64_t bytes = 0;
    char path[FILE_PATH_BYTES];
    int rc = file_make_dirs(dir, e);

    if (!rc && !force)
        rc = check_empty(dir, e);
    if (rc)
        return rc;
    sample_plan_make(&p, SHARDS);
    for (unsigned i = 0; i < SHARDS && !rc; i++)
        rc = write_shard(dir, &p, i, seed, &bytes, e);
    if (!rc)
        rc = write_index(dir, &p, e);
    if (!rc)
        rc = file_join(dir, "config.json", path, e);
    if (!rc)
        rc = file_write(path, config_text, sizeof(config_text) - 1, e);
    sample_plan_release(&p);
    if (!rc)
        *ret = (struct sample_result){.bytes = bytes, .files = SHARDS + 2};
    return rc;
}
