#include "audit/rule.h"
#include "core/text.h"
#include <stdio.h>
#include <string.h>

/* The first headline: how far the weights have travelled. It reads DISTRIBUTION_* facts and nothing
 * else, and no readiness rule reads these: being distributed and being ready are judged apart. */

struct problems {
    size_t count, pointers, unknown; /* unknown: could not be looked at */
};

static struct problems list_problems(struct rule *r)
{
    struct problems p = {0};

    for (const struct fact *f = NULL; (f = rule_next(r, FACT_DISTRIBUTION_PROBLEM, f));) {
        if (f->state == FACT_ABSENT)
            continue;
        p.count++;
        if (f->state == FACT_KNOWN && rule_word(f->text, "pointer"))
            p.pointers++;
        else if (!rule_broken(f))
            p.unknown++;
        rule_cite(r, f);
    }
    return p;
}

static void say_problems(struct rule *r)
{
    struct rule_list l = {0};
    char name[RULE_NAME_BYTES], text[RULE_NAME_BYTES];

    for (const struct fact *f = NULL; (f = rule_next(r, FACT_DISTRIBUTION_PROBLEM, f));) {
        if (f->state == FACT_ABSENT)
            continue;
        rule_say(r, "%s", l.count == 0 ? " Not whole: " : "");
        rule_list_add(r, &l, "%s (%s)", rule_plain(f->scope, name),
                      f->state == FACT_KNOWN ? rule_plain(f->text, text)
                                             : rule_why(f, "unknown", text));
    }
    rule_list_end(r, &l);
    if (l.count)
        rule_say(r, ".");
}

static void call(struct rule *r, enum verdict_status status)
{
    static const char *const titles[] = {[VERDICT_PASS] = "Downloadable",
                                         [VERDICT_WARN] = "Partly downloadable",
                                         [VERDICT_FAIL] = "Not downloadable",
                                         [VERDICT_UNKNOWN] = "Unknown"};

    rule_judge(r, status);
    r->title = titles[status];
}

void rule_distribution_headline(struct rule *r)
{
    const struct fact *all = fact_list_find(r->facts, FACT_DISTRIBUTION_SHARDS, NULL);
    const struct fact *named = fact_list_find(r->facts, FACT_DISTRIBUTION_SHARDS_NAMED, NULL);
    bool has_shards = all && all->state == FACT_KNOWN && all->i >= 0;
    bool has_index = named && named->state == FACT_KNOWN && named->i >= 0;
    bool sole = named && named->state == FACT_ABSENT; /* no index: what is there is all there is */
    char m[TEXT_NUMBER_BYTES], text[RULE_NAME_BYTES], why[RULE_NAME_BYTES];
    char files[RULE_NAME_BYTES + 4] = ""; /* "3 weight files are" */
    struct problems p;

    rule_start(r);
    rule_cite(r, all);
    rule_cite(r, named);
    if (has_shards) {
        rule_count((uint64_t)all->i, "weight file", text);
        snprintf(files, sizeof files, "%s %s", text, all->i == 1 ? "is" : "are");
    }
    p = list_problems(r);
    if (!has_shards) {
        call(r, VERDICT_UNKNOWN);
        rule_say(r, "Whether the weights can be had is not known (%s).",
                 rule_why(all, "nothing was looked at", why));
    } else if (all->i == 0 && p.count > 0 && p.pointers + p.unknown == p.count) {
        call(r, VERDICT_UNKNOWN);
        rule_say(r, "No weight file could be looked at");
        if (p.pointers)
            rule_say(r, "; Git LFS pointers: %zu", p.pointers);
        if (p.unknown)
            rule_say(r, "; not readable: %zu", p.unknown);
        rule_say(r, ".");
        rule_advise(r, "%s",
                    p.pointers ? "Fetch what the pointers stand for: git lfs pull."
                               : "Make the files readable for this user.");
    } else if (all->i == 0) {
        call(r, VERDICT_FAIL);
        rule_say(r, "No weight file is present and whole.");
    } else if (p.unknown || (!has_index && !sole)) {
        call(r, VERDICT_UNKNOWN);
        rule_say(
            r, "%s present and whole; whether there are more is not known (%s).", files,
            rule_why(named, p.unknown ? "files could not be looked at" : "no index was read", why));
    } else if (p.count || (has_index && all->i < named->i)) {
        call(r, VERDICT_WARN);
        rule_say(r, "%s present and whole", files);
        rule_say(r, has_index ? ", and the index names %s." : ".%s",
                 has_index ? text_count((uint64_t)named->i, m) : "");
    } else {
        call(r, VERDICT_PASS);
        rule_say(r, "%s%s present and whole.", all->i == 1 ? "The only " : "All ",
                 all->i == 1 ? "weight file is" : files);
    }
    say_problems(r);
    rule_say(r, " This says how far the weights have travelled, not that they run.");
    rule_end(r);
}
