#include "probes/host.h"
#include "core/buf.h"
#include "core/cpu.h"
#include "core/file.h"
#include "core/text.h"
#include "core/version.h"
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define PROC_BYTES_MAX (16u << 20) /* /proc/cpuinfo of a thousand processors has 2 MB */

/* A small file of /proc or /sys as text, or NULL. Free with free(). */
static char *read_system(const char *path)
{
    struct buf b;
    struct err e = {0};

    buf_init(&b, PROC_BYTES_MAX);
    if (file_read(path, &b, &e) == 0)
        return b.data;
    buf_release(&b);
    return NULL;
}

/* What stands behind the colon in the first line that starts with key, cut to ret; false if there
 * is none. */
static bool find_line(const char *text, const char *key, char *ret, size_t ret_bytes)
{
    size_t n = strlen(key);

    for (const char *line = text; line && *line; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        const char *colon = strchr(line, ':');
        if (!end)
            end = line + strlen(line);
        if (strncmp(line, key, n) == 0 && colon && colon < end &&
            strspn(line + n, " \t") == (size_t)(colon - line) - n) {
            colon += 1 + strspn(colon + 1, " \t");
            if (colon >= end)
                return false;
            snprintf(ret, ret_bytes, "%.*s", (int)(end - colon), colon);
            return true;
        }
        if (!*end)
            break;
    }
    return false;
}

static void describe_cpu(const char *cpuinfo, unsigned features, char *ret, size_t ret_bytes)
{
    char model[120] = "unknown";

    /* x86 says "model name", PowerPC "cpu", some Arm systems only "Hardware" or nothing */
    if (cpuinfo && !find_line(cpuinfo, "model name", model, sizeof(model)) &&
        !find_line(cpuinfo, "cpu", model, sizeof(model)))
        (void)find_line(cpuinfo, "Hardware", model, sizeof(model));
    snprintf(ret, ret_bytes, "%s; %s", model,
             features & CPU_AVX512 ? "AVX2, AVX-512"
             : features & CPU_AVX2 ? "AVX2"
                                   : "no vector extensions in use");
}

/* "MemTotal:  131072 kB" in bytes, or 0. */
static uint64_t total_memory(const char *meminfo)
{
    char value[64];
    uint64_t n;

    if (!meminfo || !find_line(meminfo, "MemTotal", value, sizeof(value)))
        return 0;
    char *end;
    n = strtoull(value, &end, 10);
    return strcmp(end, " kB") == 0 && n <= UINT64_MAX / 1024 ? n * 1024 : 0;
}

/* The least limit that dir/group or a group above it sets in the file `name`; UINT64_MAX if none
 * does. */
static uint64_t least_limit(const char *dir, const char *group, const char *name)
{
    char path[FILE_PATH_BYTES], at[FILE_PATH_BYTES];
    uint64_t least = UINT64_MAX;

    snprintf(at, sizeof(at), "%s", group);
    for (;;) {
        int n = snprintf(path, sizeof(path), "%s%s/%s", dir, at, name);
        char *text = n > 0 && (size_t)n < sizeof(path) ? read_system(path) : NULL;
        if (text && *text >= '0' && *text <= '9') {
            uint64_t limit = strtoull(text, NULL, 10);
            if (limit < least)
                least = limit;
        }
        free(text);
        char *slash = strrchr(at, '/');
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* The control group's memory limit, of version 2 ("0::/path") or 1 ("9:memory:/path"). */
static uint64_t group_limit(const char *groups, const char *mount)
{
    uint64_t least = UINT64_MAX;
    char line[FILE_PATH_BYTES], v1[FILE_PATH_BYTES];

    snprintf(v1, sizeof(v1), "%.*s/memory", FILE_PATH_BYTES - 16, mount);
    for (const char *p = groups; p && *p;) {
        size_t n = strcspn(p, "\n");
        snprintf(line, sizeof(line), "%.*s", n < sizeof(line) ? (int)n : 0, p);
        char *names = strchr(line, ':');
        char *group = names ? strchr(names + 1, ':') : NULL;
        uint64_t limit = UINT64_MAX;
        if (group) {
            *group++ = '\0';
            /* "/" alone is the mount itself, which least_limit reaches as "" */
            if (text_starts(line, "0:"))
                limit = least_limit(mount, strcmp(group, "/") == 0 ? "" : group, "memory.max");
            else if (strstr(names + 1, "memory"))
                limit =
                    least_limit(v1, strcmp(group, "/") == 0 ? "" : group, "memory.limit_in_bytes");
        }
        if (limit < least)
            least = limit;
        p += n + (p[n] == '\n');
    }
    return least;
}

void host_read(struct host *ret)
{
    char *cpuinfo = read_system("/proc/cpuinfo"), *meminfo = read_system("/proc/meminfo");
    char *groups = read_system("/proc/self/cgroup");
    struct utsname u;

    *ret = (struct host){.threads = cpu_count(),
                         .memory_bytes = total_memory(meminfo),
                         .memory_source = "/proc/meminfo"};
    describe_cpu(cpuinfo, cpu_features(), ret->cpu, sizeof(ret->cpu));
    uint64_t limit = group_limit(groups, "/sys/fs/cgroup");
    if (limit < (ret->memory_bytes ? ret->memory_bytes : UINT64_MAX)) {
        ret->memory_bytes = limit;
        ret->memory_source = "cgroup limit";
    }
    if (uname(&u) == 0)
        snprintf(ret->system, sizeof(ret->system), "%.50s %.70s %.30s", u.sysname, u.release,
                 u.machine);
    else
        snprintf(ret->system, sizeof(ret->system), "unknown");
    free(cpuinfo);
    free(meminfo);
    free(groups);
}

int host_facts(const struct host *h, const struct fact_sink *sink, struct err *e)
{
    int rc = fact_put_text(sink, FACT_HOST_CPU, "", h->cpu, "/proc/cpuinfo", e);

    if (!rc)
        rc = fact_put_int(sink, FACT_HOST_THREADS, "", h->threads, "scheduler affinity", e);
    if (!rc && h->memory_bytes && h->memory_bytes <= INT64_MAX)
        rc =
            fact_put_int(sink, FACT_HOST_MEMORY, "", (int64_t)h->memory_bytes, h->memory_source, e);
    else if (!rc)
        rc = fact_put_unknown(sink, FACT_HOST_MEMORY, "",
                              "neither /proc/meminfo nor a control group tells the memory", e);
    if (!rc)
        rc = fact_put_text(sink, FACT_HOST_SYSTEM, "", h->system, "uname", e);
    if (!rc)
        rc = fact_put_text(sink, FACT_HOST_VERSION, "", VERSION, "assay", e);
    return rc;
}
