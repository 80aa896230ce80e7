#include "stress/counters.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#if HAVE_PAPI
#include <papi.h>
#endif

/* Rounds of the known loop: 20 million instructions, a few milliseconds, beside which the some
 * thousand of starting and stopping a counter vanish. */
#define SPIN_ROUNDS 10000000u
#define COUNT_TOLERANCE 0.05
#define IPC_MIN 0.05
#define IPC_MAX 8.0 /* no core retires more */
#define RUNNING_MIN 0.99

/* A loop of which every round is two instructions, whatever the compiler. */
#if defined(__x86_64__)
#define SPIN_INSTRUCTIONS (2ll * SPIN_ROUNDS)
static void spin(void *ctx)
{
    uint64_t n = SPIN_ROUNDS;

    (void)ctx;
    __asm__ volatile("1: sub $1, %0\n\tjnz 1b" : "+r"(n) : : "cc");
}
#elif defined(__aarch64__)
#define SPIN_INSTRUCTIONS (2ll * SPIN_ROUNDS)
static void spin(void *ctx)
{
    uint64_t n = SPIN_ROUNDS;

    (void)ctx;
    __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
}
#else
#define SPIN_INSTRUCTIONS 0ll
static void spin(void *ctx)
{
    (void)ctx;
    for (volatile uint32_t n = SPIN_ROUNDS; n > 0;)
        n = n - 1;
}
#endif

static enum counters_state judge_error(const struct counters_probe *p, char why[COUNTERS_WHY_BYTES])
{
    const char *detail = p->detail && *p->detail ? p->detail : strerror(p->error);

    if (p->error == EACCES || p->error == EPERM) {
        snprintf(why, COUNTERS_WHY_BYTES,
                 "%s; allow them with sysctl kernel.perf_event_paranoid=2 or CAP_PERFMON", detail);
        return COUNTERS_RESTRICTED;
    }
    snprintf(why, COUNTERS_WHY_BYTES, "%s", detail);
    return COUNTERS_ABSENT;
}

/* What is wrong with two counts that were taken together, or NULL. */
static const char *pair_problem(int64_t instructions, int64_t cycles)
{
    if (instructions < 0 || cycles < 0)
        return "a count is negative";
    if (cycles == 0)
        return "no cycles were counted";
    double ipc = (double)instructions / (double)cycles;
    if (ipc < IPC_MIN)
        return "fewer instructions a cycle than any program has";
    if (ipc > IPC_MAX)
        return "more instructions a cycle than any core retires";
    return NULL;
}

enum counters_state counters_judge(const struct counters_probe *p, char ret_why[COUNTERS_WHY_BYTES])
{
    const char *problem;

    if (p->error)
        return judge_error(p, ret_why);
    if (p->running_ns == 0 || (p->running_ns > 0 && p->enabled_ns > 0 &&
                               (double)p->running_ns < RUNNING_MIN * (double)p->enabled_ns)) {
        snprintf(ret_why, COUNTERS_WHY_BYTES,
                 "the counter ran for %lld of %lld ns: others hold the hardware",
                 (long long)p->running_ns, (long long)p->enabled_ns);
        return COUNTERS_IMPLAUSIBLE;
    }
    if (p->expected_instructions <= 0) {
        snprintf(ret_why, COUNTERS_WHY_BYTES,
                 "no loop of a known number of instructions on this processor to check them with");
        return COUNTERS_IMPLAUSIBLE;
    }
    problem = pair_problem(p->instructions, p->cycles);
    double off = (double)p->instructions / (double)p->expected_instructions - 1;
    if (!problem && (off > COUNT_TOLERANCE || off < -COUNT_TOLERANCE))
        problem = "the count is wrong";
    if (problem) {
        snprintf(ret_why, COUNTERS_WHY_BYTES,
                 "%s: %lld instructions and %lld cycles for a loop of %lld instructions", problem,
                 (long long)p->instructions, (long long)p->cycles,
                 (long long)p->expected_instructions);
        return COUNTERS_IMPLAUSIBLE;
    }
    snprintf(ret_why, COUNTERS_WHY_BYTES,
             "counted %lld instructions (%+.2f %%) and %lld cycles for a loop of %lld instructions",
             (long long)p->instructions, 100 * off, (long long)p->cycles,
             (long long)p->expected_instructions);
    return COUNTERS_OK;
}

const char *counters_state_name(enum counters_state s)
{
    switch (s) {
    case COUNTERS_OK: return "ok";
    case COUNTERS_RESTRICTED: return "restricted";
    case COUNTERS_ABSENT: return "absent";
    case COUNTERS_IMPLAUSIBLE: return "implausible";
    }
    return "?";
}

#if HAVE_PAPI

/* The kernel's own answer, for two things that PAPI keeps to itself: the errno that tells forbidden
 * from missing, and how long the counter really ran. Returns 0 or the errno. */
static int probe_kernel(struct counters_probe *p)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .disabled = 1,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1,
                                   .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                                                  PERF_FORMAT_TOTAL_TIME_RUNNING};
    uint64_t got[3];
    int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

    if (fd < 0)
        return errno;
    (void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    spin(NULL);
    (void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (read(fd, got, sizeof(got)) == (ssize_t)sizeof(got)) {
        p->enabled_ns = (int64_t)got[1];
        p->running_ns = (int64_t)got[2];
    }
    (void)close(fd);
    return 0;
}

/* Counts `events` over fn(ctx). On failure *ret_step names the call that failed. */
static int count(const int *events, int n, meter_fn *fn, void *ctx, long long *ret,
                 const char **ret_step)
{
    int set = PAPI_NULL, rc;

    *ret_step = "PAPI_create_eventset";
    rc = PAPI_create_eventset(&set);
    if (rc != PAPI_OK)
        return rc;
    for (int i = 0; i < n && rc == PAPI_OK; i++) {
        *ret_step = "PAPI_add_event";
        rc = PAPI_add_event(set, events[i]);
    }
    if (rc == PAPI_OK) {
        *ret_step = "PAPI_start";
        rc = PAPI_start(set);
    }
    if (rc == PAPI_OK) {
        fn(ctx);
        *ret_step = "PAPI_stop";
        rc = PAPI_stop(set, ret);
    }
    (void)PAPI_cleanup_eventset(set);
    (void)PAPI_destroy_eventset(&set);
    return rc;
}

static int start_library(void)
{
    int rc = PAPI_is_initialized();

    if (rc == PAPI_NOT_INITED) {
        rc = PAPI_library_init(PAPI_VER_CURRENT);
        if (rc != PAPI_VER_CURRENT)
            return rc < 0 ? rc : PAPI_EINVAL;
    }
    /* What it has to say about a failure is in the return code; stderr is not its place. */
    return PAPI_set_debug(PAPI_QUIET);
}

/* PAPI's reason for having no CPU counters, "" if it has some. */
static const char *disabled_reason(void)
{
    int i = PAPI_get_component_index("perf_event");
    const PAPI_component_info_t *c = i >= 0 ? PAPI_get_component_info(i) : NULL;

    return c && c->disabled ? c->disabled_reason : "";
}

static void probe(struct counters_probe *p, char *detail, size_t detail_bytes)
{
    static const int events[] = {PAPI_TOT_INS, PAPI_TOT_CYC};
    long long got[2] = {0, 0};
    const char *step = "PAPI_library_init";
    int kernel = probe_kernel(p);
    int rc = start_library();

    for (size_t i = 0; i < 2 && rc == PAPI_OK; i++) {
        step = "PAPI_query_event";
        rc = PAPI_query_event(events[i]);
    }
    if (rc == PAPI_OK)
        rc = count(events, 2, spin, NULL, got, &step);
    if (rc == PAPI_OK) {
        p->instructions = got[0];
        p->cycles = got[1];
        return;
    }
    const char *reason = disabled_reason();
    p->error = kernel ? kernel : rc == PAPI_EPERM ? EACCES : ENOENT;
    snprintf(detail, detail_bytes, "%.40s: %.60s%s%.80s%s%s%.50s", step, PAPI_strerror(rc),
             *reason ? " (" : "", reason, *reason ? ")" : "", kernel ? "; the kernel says: " : "",
             kernel ? strerror(kernel) : "");
    p->detail = detail;
}

void counters_init(struct counters *c)
{
    struct counters_probe p = {
        .expected_instructions = SPIN_INSTRUCTIONS, .enabled_ns = -1, .running_ns = -1};
    char detail[COUNTERS_WHY_BYTES] = "";

    *c = (struct counters){0};
    probe(&p, detail, sizeof(detail));
    c->state = counters_judge(&p, c->why);
}

/* Instructions and cycles, with the plausibility of every single delta. Returns true if fn was run.
 */
static bool measure_hardware(struct counters *c, meter_fn *fn, void *ctx, struct counters_values *v)
{
    static const int events[] = {PAPI_TOT_INS, PAPI_TOT_CYC};
    long long got[2];
    const char *step, *problem = NULL;
    int rc = count(events, 2, fn, ctx, got, &step);

    if (rc == PAPI_OK)
        problem = pair_problem(got[0], got[1]);
    if (rc == PAPI_OK && !problem) {
        v->hardware = true;
        v->instructions = got[0];
        v->cycles = got[1];
        return true;
    }
    c->state = COUNTERS_IMPLAUSIBLE;
    if (problem)
        snprintf(c->why, sizeof(c->why), "%s: %lld instructions, %lld cycles", problem, got[0],
                 got[1]);
    else
        snprintf(c->why, sizeof(c->why), "%s: %s, after a probe that worked", step,
                 PAPI_strerror(rc));
    return problem != NULL || strcmp(step, "PAPI_stop") == 0;
}

#else

void counters_init(struct counters *c)
{
    struct counters_probe p = {.error = ENOSYS, .detail = "built without PAPI"};

    *c = (struct counters){0};
    c->state = counters_judge(&p, c->why);
    (void)spin;
}

static bool measure_hardware(struct counters *c, meter_fn *fn, void *ctx, struct counters_values *v)
{
    (void)c;
    (void)fn;
    (void)ctx;
    (void)v;
    return false;
}

#endif

static int64_t thread_cpu_ns(void)
{
    struct timespec t = {0, 0};

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void counters_measure(struct counters *c, meter_fn *fn, void *ctx, struct counters_values *ret)
{
    struct counters_values v = {0};
    struct rusage before = {0}, after = {0};
    bool ran = false;

    (void)getrusage(RUSAGE_THREAD, &before);
    int64_t start = thread_cpu_ns();
    if (c->state == COUNTERS_OK)
        ran = measure_hardware(c, fn, ctx, &v);
    if (!ran)
        fn(ctx);
    v.task_clock_ns = thread_cpu_ns() - start;
    (void)getrusage(RUSAGE_THREAD, &after);
    v.minor_faults = after.ru_minflt - before.ru_minflt;
    v.major_faults = after.ru_majflt - before.ru_majflt;
    v.switches_forced = after.ru_nivcsw - before.ru_nivcsw;
    *ret = v;
}
