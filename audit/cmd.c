#include "audit/cmd.h"
#include "audit/cmd_list.h"
#include "core/buf.h"
#include "core/json.h"
#include "core/log.h"
#include <stdio.h>

#define JSON_OUT_BYTES_MAX (1u << 30)

#define MEASURE (OPTION_CONTEXT | OPTION_BUDGET | OPTION_MEMORY | OPTION_SEED | OPTION_CPU)

const struct cmd cmd_table[] = {
    {"audit", cmd_audit,
     MEASURE | OPTION_TOKENS | OPTION_THREADS | OPTION_POLICY | OPTION_SUPPORT | OPTION_BASELINE |
         OPTION_FAIL_ON | OPTION_REPORT | OPTION_DB,
     1, 1, "SUBJECT", "The whole audit: one run, one report, one exit status",
     "SUBJECT is a folder with a checkpoint: a download, a git clone, a Hugging Face cache entry.\n"
     "Does what inspect, fingerprint, coverage, stress and balance do. The run is recorded in\n"
     "the database and written as an HTML report (assay-report.html here, or --report FILE).\n"
     "A baseline is named by assay fingerprint, and compared with here. Exit status: 0 ready,\n"
     "1 not ready or not proven (--fail-on moves the line), 3 nothing could be learnt or nothing\n"
     "could be recorded.\n"
     "\n"
     "  assay audit models/kimi-k3 --context 128K --budget 60s --memory 4G"},
    {"inspect", cmd_inspect, OPTION_CONTEXT | OPTION_LAYERS | OPTION_TENSORS, 1, 1, "SUBJECT",
     "What it is: layers, operators, formats, parameters, cache cost",
     "Reads config.json and the tensor headers; weights are not read. A folder with nothing but a\n"
     "config.json will do.\n\n  assay inspect models/kimi-k3 --context 128K,1M"},
    {"fingerprint", cmd_fingerprint, OPTION_BASELINE | OPTION_THREADS | OPTION_DB, 1, 1, "SUBJECT",
     "Hash the files and record them as a snapshot",
     "With --baseline NAME, the snapshot is what later audits and verify compare with under that\n"
     "name; a name that stands for another snapshot moves.\n\n"
     "  assay fingerprint models/kimi-k3 --baseline prod"},
    {"verify", cmd_verify, OPTION_BASELINE | OPTION_THREADS | OPTION_DB, 1, 1, "SUBJECT",
     "Hash again and compare with a baseline or the last snapshot",
     "Exit status: 0 all identical, 1 a file differs, 3 a file could not be checked.\n\n"
     "  assay verify models/kimi-k3 --baseline prod"},
    {"diff", cmd_diff, OPTION_THREADS | OPTION_DB, 2, 2, "A B",
     "What changed between two snapshots, file by file",
     "A and B are folders (hashed now), baseline:NAME, snapshot:N or run:N; a bare word is a\n"
     "folder, else a baseline, else the number of a snapshot. Exit status as for verify.\n\n"
     "  assay diff baseline:prod models/kimi-k3"},
    {"coverage", cmd_coverage, OPTION_POLICY | OPTION_SUPPORT, 1, 1, "SUBJECT",
     "Operators and formats against the backends that the policy names",
     "What stands in no table is unknown, never refused. --support FILE adds rows of your own.\n\n"
     "  assay coverage models/kimi-k3"},
    {"stress", cmd_stress, MEASURE | OPTION_POLICY, 1, 1, "SUBJECT",
     "Reference kernels at the model's shapes, over a ladder of context lengths",
     "Measures the cache and the decode time of one layer of each kind on this host's CPU, and\n"
     "says whether they grow as the architecture predicts.\n\n"
     "  assay stress models/kimi-k3 --context 128K --budget 60s --memory 4G"},
    {"balance", cmd_balance, OPTION_TOKENS | OPTION_BUDGET | OPTION_SEED | OPTION_CPU, 1, 1,
     "SUBJECT", "Expert load, from the router's weights on synthetic inputs",
     "Beside each figure stands what perfectly even routing gives by chance.\n\n"
     "  assay balance models/kimi-k3 --tokens 8K"},
    {"report", cmd_report, OPTION_REPORT | OPTION_DB, 0, 1, "[RUN]",
     "Write the report of a recorded run again; of the last one without RUN",
     "Nothing is measured or judged anew. The page goes to stdout, or to --report FILE.\n\n"
     "  assay report 12 --report k3.html"},
    {"policy", cmd_policy, OPTION_POLICY, 0, 0, "",
     "Print the built-in policy, or check a file and print it as it will be used",
     "  assay policy > nightly.json\n  assay policy --policy nightly.json"},
    {"sample", cmd_sample, OPTION_SEED | OPTION_FORCE, 1, 1, "DIR",
     "Write a small complete checkpoint to try things on",
     "Kimi K3's shape in 40 MB: KDA and MLA layers, attention residuals, LatentMoE with MXFP4\n"
     "experts, in three shards. The same seed gives the same bytes.\n\n  assay sample k3-small"},
    {"kernels", cmd_kernels, OPTION_CPU | OPTION_BUDGET, 1, -1, "list | bench | check FILE...",
     "The reference kernels: list them, time them, check conformance files",
     "list: operators, variants, cost formulas, tolerances. bench: each variant beside its\n"
     "definition. check: compares every output of a conformance file with what the kernels\n"
     "compute; exit status 1 if one misses its tolerance or an operator is not implemented.\n\n"
     "  assay kernels check layer3.safetensors"},
};
const size_t cmd_count = sizeof(cmd_table) / sizeof(cmd_table[0]);

int cmd_fail(const struct options *o, const struct err *e)
{
    log_error("%s: %s", o->cmd->name, e->msg);
    return e->code == ERR_USAGE ? CMD_USAGE : CMD_UNKNOWN;
}

int cmd_print_json(const struct options *o, struct cJSON *doc, int status)
{
    struct err e = {0};
    struct buf b;

    buf_init(&b, JSON_OUT_BYTES_MAX);
    json_print(doc, false, &b);
    json_free(doc);
    if (!buf_check(&b, "the JSON document", &e))
        fwrite(b.data, 1, b.len, stdout);
    buf_release(&b);
    return e.code ? cmd_fail(o, &e) : status;
}
