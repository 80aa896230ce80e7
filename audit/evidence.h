#ifndef AUDIT_EVIDENCE_H
#define AUDIT_EVIDENCE_H
#include "audit/options.h"
#include "audit/policy.h"
#include "audit/subject.h"
#include "core/fact.h"
#include "db/run.h"
#include "fingerprint/manifest.h"
#include "probes/support.h"

/* The stages of an audit. Each adds its facts to a list; the commands on one stage print that list,
 * `assay audit` runs all stages and records them. A stage that could not look puts unknown facts
 * with the reason; its return value is not 0 only if the sink refused. */

#define EVIDENCE_MEMORY_DEFAULT (4ull << 30)
#define EVIDENCE_BUDGET_DEFAULT_NS 60000000000ull

struct evidence {
    struct fact_list facts;
    struct run_support *supports; /* table rows that coverage facts were read from */
    size_t support_count, support_cap;
    struct mem_arena arena; /* strings of supports */
};

void evidence_init(struct evidence *v);
void evidence_release(struct evidence *v);

int evidence_subject(struct evidence *v, struct subject *s, struct err *e);
/* m NULL: hashing failed as a whole, why says how. */
int evidence_fingerprint(struct evidence *v, const struct manifest *m, const char *why,
                         struct err *e);
/* Formats and operators against the policy's backends. */
int evidence_coverage(struct evidence *v, const struct policy *p, const struct support *tables,
                      struct err *e);

/* What measuring may take, from the options, with the defaults above; memory is never more than
 * half of the host's. */
struct evidence_limits {
    uint64_t budget_ns, memory_bytes, target_tokens;
};
void evidence_limits(const struct options *o, const struct policy *p, struct evidence_limits *ret);

/* The ladder of context lengths and the counters' state. */
int evidence_stress(struct evidence *v, const struct subject *s, const struct options *o,
                    const struct evidence_limits *l, struct err *e);
/* What unpacking the tensors' formats takes; after evidence_stress, whose bandwidth stands beside. */
int evidence_dequant(struct evidence *v, const struct subject *s, const struct options *o,
                     const struct evidence_limits *l, struct err *e);
/* Fused against composed operators. */
int evidence_fallback(struct evidence *v, const struct subject *s, const struct options *o,
                      const struct evidence_limits *l, struct err *e);
/* Expert load from the routers' weights. */
int evidence_balance(struct evidence *v, const struct subject *s, const struct options *o,
                     const struct evidence_limits *l, struct err *e);

#endif
