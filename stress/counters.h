#ifndef STRESS_COUNTERS_H
#define STRESS_COUNTERS_H
#include "core/err.h"
#include "stress/meter.h"
#include <stdbool.h>
#include <stdint.h>

/* Hardware counters through PAPI, believed only after they have counted something known. A virtual
 * machine may have none, or ones that lie (395 instructions where 3.5e9 ran), and a counter that is
 * listed may still be forbidden; so the proof is add, start, run, read. */

enum counters_state {
    COUNTERS_OK,
    COUNTERS_RESTRICTED, /* the system forbids them (perf_event_paranoid, missing capability) */
    COUNTERS_ABSENT,     /* there are none: a VM without a PMU, a build without PAPI */
    COUNTERS_IMPLAUSIBLE /* they count, and not what ran */
};

#define COUNTERS_WHY_BYTES 256

/* What the probe saw, before anybody judges it. */
struct counters_probe {
    int error;          /* errno class of the first step that failed; 0: all steps worked */
    const char *detail; /* what failed in words: "PAPI_add_event: ..."; may be NULL */
    int64_t expected_instructions; /* of the spin loop; 0: not known on this processor */
    int64_t instructions, cycles;
    int64_t enabled_ns, running_ns; /* of the perf event; -1: not known */
};

/* The judge. Tolerance of the known count 5 %, IPC from 0.05 to 8, running time > 0 and equal to
 * the enabled time within 1 % (a smaller ratio means multiplexing; the text shows it). EACCES and
 * EPERM are restricted; every other error is absent. ret_why says why in one sentence. */
enum counters_state counters_judge(const struct counters_probe *p,
                                   char ret_why[COUNTERS_WHY_BYTES]);

const char *counters_state_name(enum counters_state s); /* "ok", "restricted", ... */

struct counters {
    enum counters_state state;
    char why[COUNTERS_WHY_BYTES]; /* one sentence; with COUNTERS_OK, what was verified */
};

/* One run of a piece of work. */
struct counters_values {
    bool hardware; /* the next two hold */
    int64_t instructions, cycles;
    int64_t task_clock_ns; /* CPU time of this thread */
    int64_t minor_faults, major_faults, switches_forced;
};

/* Probes. Never fails: what is missing is the state. No handle stays open. */
void counters_init(struct counters *c);

/* Runs fn(ctx) once under task clock, faults and context switches, with instructions and cycles in
 * the same pass where the state is ok. A negative or absurd delta turns c's state into
 * COUNTERS_IMPLAUSIBLE and `hardware` off. */
void counters_measure(struct counters *c, meter_fn *fn, void *ctx, struct counters_values *ret);

#endif
