/* The table of fact keys: X(enumerator, name, type, unit, meaning). Included by fact.h and fact.c,
 * hence without a guard. A scope is named in angle brackets where a key has one. */

/* The subject and the host. */
X(SUBJECT_PATH, "subject.path", FACT_TEXT, "", "where the weights were read")
X(SUBJECT_KIND, "subject.kind", FACT_TEXT, "", "what the place is: folder, hub cache, git clone")
X(HOST_CPU, "host.cpu", FACT_TEXT, "", "processor model and its vector extensions in use")
X(HOST_THREADS, "host.threads", FACT_INT, "threads", "processors this run could use")
X(HOST_MEMORY, "host.memory", FACT_INT, "bytes", "memory of the host")
X(HOST_SYSTEM, "host.system", FACT_TEXT, "", "operating system and kernel")
X(HOST_VERSION, "host.assay", FACT_TEXT, "", "version of assay that made the run")

/* What the model is. */
X(MODEL_FAMILY, "model.family", FACT_TEXT, "", "architecture family recognised")
X(MODEL_ARCHITECTURE, "model.architecture", FACT_TEXT, "", "class named by the config")
X(MODEL_LAYERS, "model.layers", FACT_INT, "layers", "decoder layers <mixer kind, or all>")
X(MODEL_MIXERS, "model.mixers", FACT_TEXT, "", "mixers of all layers, repeated groups written once")
X(MODEL_FEED_FORWARD, "model.feed_forward", FACT_TEXT, "", "feed-forward kinds of all layers")
X(MODEL_CONTAINER, "model.container", FACT_TEXT, "", "format of the weight files, with its version")
X(MODEL_METADATA, "model.metadata", FACT_TEXT, "", "what the weight files say of themselves <key>")
X(MODEL_HIDDEN, "model.hidden", FACT_INT, "channels", "width of the residual stream")
X(MODEL_TENSORS, "model.tensors", FACT_INT, "tensors", "tensors in the weight files")
X(MODEL_STORED_BYTES, "model.stored_bytes", FACT_INT, "bytes", "bytes of all tensors as stored")
X(MODEL_PARAMS_STORED, "model.params.stored", FACT_INT, "parameters",
  "parameters in the tensors, packed ones counted as unpacked, scales left out, padding included")
X(MODEL_PARAMS_PADDING, "model.params.padding", FACT_INT, "parameters",
  "stored values that are padding <tensor>")
X(MODEL_PARAMS_TOTAL, "model.params.total", FACT_INT, "parameters",
  "parameters that the config's shapes give")
X(MODEL_PARAMS_ACTIVE, "model.params.active", FACT_INT, "parameters",
  "parameters that one token uses, input embedding left out")
X(MODEL_CACHE_PER_TOKEN, "model.cache.per_token", FACT_INT, "bytes/token",
  "cache that grows with each token, BF16 <mixer kind, or whole model>")
X(MODEL_CACHE_WINDOW, "model.cache.window", FACT_INT, "bytes",
  "cache of sliding windows when full, one sequence")
X(MODEL_STATE, "model.state", FACT_INT, "bytes",
  "state of one sequence, constant in length <mixer kind, or whole model>")
X(MODEL_ATTNRES_SOURCES, "model.attnres.sources", FACT_INT, "sources",
  "streams that the last attention residual looks at")
X(MODEL_ATTNRES_BLOCK, "model.attnres.block", FACT_INT, "layers", "decoder layers in one block")
X(MODEL_ATTNRES_IN_FLIGHT, "model.attnres.in_flight", FACT_INT, "bytes/token",
  "residual blocks held per token while it passes through; no cache")
X(MODEL_EXPERTS, "model.experts", FACT_INT, "experts", "routed experts of a layer")
X(MODEL_TOP_K, "model.top_k", FACT_INT, "experts", "routed experts that a token uses")
X(MODEL_LATENT_WIDTH, "model.latent_width", FACT_INT, "channels", "width in which experts work")
X(MODEL_UNEXPLAINED, "model.unexplained", FACT_TEXT, "", "config key that could not be explained")
X(MODEL_FINDING, "model.finding", FACT_TEXT, "", "a contradiction or oddity <code>")

/* Item 1: formats. */
X(FORMAT_OBSERVED, "format.observed", FACT_TEXT, "", "format the tensors have <module class>")
X(FORMAT_DECLARED, "format.declared", FACT_TEXT, "", "format the config declares <module class>")
X(FORMAT_BYTES, "format.bytes", FACT_INT, "bytes", "stored bytes <module class>")
X(FORMAT_TENSORS, "format.tensors", FACT_INT, "tensors", "tensors <module class>")
X(FORMAT_BITS, "format.bits_per_weight", FACT_REAL, "bits",
  "bits that a weight takes, scales included <format>")
X(FORMAT_DISAGREES, "format.disagrees", FACT_TEXT, "",
  "declared and observed format differ: both sides <module class>")
X(FORMAT_SUPPORT, "format.support", FACT_TEXT, "",
  "native, supported (path not stated), weight_only, convert, expand, reject or unknown "
  "<class|backend|hardware>")
X(FORMAT_DEQUANT_RATE, "format.dequant.rate", FACT_REAL, "bytes/s",
  "stored bytes that one thread of this host's CPU turns into F32 <format>")
X(FORMAT_DEQUANT_LOAD, "format.dequant.load", FACT_REAL, "s",
  "stored bytes over that rate: what unpacking adds to loading, on this host's CPU <module class>")

/* Item 2: operators. */
X(OPERATOR_LAYERS, "operator.layers", FACT_INT, "layers", "layers that use it <operator>")
X(OPERATOR_SUPPORT, "operator.support", FACT_TEXT, "",
  "fused, partial, composed, none or unknown <operator|backend>")
X(FALLBACK_TIME, "fallback.time_ratio", FACT_REAL, "x",
  "composed over fused, time, on this host's CPU <operator>")
X(FALLBACK_BYTES, "fallback.bytes_ratio", FACT_REAL, "x",
  "composed over fused, bytes moved, from the kernels' cost functions <operator>")

/* Item 3: long context. */
X(STRESS_BANDWIDTH, "stress.read_bandwidth", FACT_REAL, "bytes/s",
  "read bandwidth of this host, same run, one thread <or all threads>")
X(STRESS_BANDWIDTH_SET, "stress.read_bandwidth.working_set", FACT_INT, "bytes",
  "memory that the bandwidth was read from, at least 4 times the last cache where it could be")
X(STRESS_COUNTERS, "stress.counters", FACT_TEXT, "",
  "hardware counters: ok, restricted, absent or implausible, and why")
X(STRESS_VARIANT, "stress.variant", FACT_TEXT, "", "kernel variant measured <mixer kind>")
X(STRESS_TARGET, "stress.target", FACT_INT, "tokens", "context length the policy asks for")
X(STRESS_REACHED, "stress.reached", FACT_INT, "tokens", "longest context measured <mixer kind>")
X(STRESS_LIMIT, "stress.limit", FACT_TEXT, "",
  "why the ladder stopped before the target <mixer kind>")
X(STRESS_GROWTH, "stress.growth", FACT_TEXT, "",
  "growth of the cache found by the fit: linear, constant or plateau <mixer kind>")
X(STRESS_GROWTH_EXPECTED, "stress.growth.expected", FACT_TEXT, "",
  "growth that the architecture predicts <mixer kind>")
X(STRESS_CACHE_SLOPE, "stress.cache.slope", FACT_REAL, "bytes/token",
  "slope of the measured cache, all layers of the kind <mixer kind>")
X(STRESS_CACHE_SLOPE_EXPECTED, "stress.cache.slope.expected", FACT_REAL, "bytes/token",
  "slope that the architecture predicts, all layers of the kind <mixer kind>")
X(STRESS_CACHE_CONSTANT_EXPECTED, "stress.cache.constant.expected", FACT_REAL, "bytes",
  "intercept, or level of a constant or plateau, that the architecture predicts <mixer kind>")
X(STRESS_CACHE_CONSTANT, "stress.cache.constant", FACT_REAL, "bytes",
  "intercept of the measured cache, all layers of the kind <mixer kind>")
X(STRESS_CACHE_OFF, "stress.cache.off", FACT_REAL, "ratio",
  "largest distance of measured from predicted cache, relative <mixer kind>")
X(STRESS_CACHE_AGREES, "stress.cache.agrees", FACT_TEXT, "",
  "yes, or what the fit of the measured cache found otherwise than predicted <mixer kind>")
X(STRESS_DECODE, "stress.decode", FACT_REAL, "ns/token",
  "decode time of one layer at the longest context measured <mixer kind>")
X(STRESS_DECODE_GROWTH, "stress.decode.growth", FACT_TEXT, "",
  "growth of decode time found by the fit <mixer kind>")
X(STRESS_DECODE_RATE, "stress.decode.rate", FACT_REAL, "bytes/s",
  "bytes the kernel moves over time at the longest context <mixer kind>")
X(STRESS_DECODE_QUALITY, "stress.decode.quality", FACT_TEXT, "",
  "ok, unstable or too short, with what disturbed the clock <mixer kind>")
X(STRESS_IPC, "stress.ipc", FACT_REAL, "instructions/cycle",
  "of the decode step at the longest context, where counters are ok <mixer kind>")
X(STRESS_EPOCHS, "stress.epochs", FACT_INT, "epochs",
  "repetitions behind the median at the longest context <mixer kind>")

/* Item 4: expert balance. */
X(BALANCE_SOURCE, "balance.source", FACT_TEXT, "", "recorded traffic, or synthetic inputs")
X(BALANCE_LAYERS, "balance.layers", FACT_INT, "layers", "expert layers whose load was seen")
X(BALANCE_LEFT_OUT, "balance.left_out", FACT_TEXT, "",
  "expert layers whose load was not seen, and why")
X(BALANCE_TOKENS, "balance.tokens", FACT_INT, "tokens", "tokens routed in each layer")
X(BALANCE_TOKENS_PER_EXPERT, "balance.tokens_per_expert", FACT_REAL, "tokens",
  "mean load of an expert")
X(BALANCE_MAX_MEAN, "balance.max_mean", FACT_REAL, "ratio",
  "largest over mean load <layer, or worst>")
X(BALANCE_MAX_MEAN_FLOOR, "balance.max_mean.floor", FACT_REAL, "ratio",
  "what perfectly even routing gives by chance")
X(BALANCE_CV, "balance.cv", FACT_REAL, "ratio", "coefficient of variation <layer, or worst>")
X(BALANCE_CV_FLOOR, "balance.cv.floor", FACT_REAL, "ratio",
  "what perfectly even routing gives by chance")
X(BALANCE_ENTROPY, "balance.entropy", FACT_REAL, "ratio",
  "entropy of the load over that of an even one <layer, or worst>")
X(BALANCE_GINI, "balance.gini", FACT_REAL, "ratio", "Gini coefficient <layer, or worst>")
X(BALANCE_UNUSED, "balance.unused", FACT_INT, "experts",
  "experts without a token <layer, or worst>")

/* Item 5: fingerprint. */
X(FINGERPRINT_DIGEST, "fingerprint.digest", FACT_TEXT, "",
  "sha256 over names, sizes and digests of all files: weights, index, configuration")
X(FINGERPRINT_FILES, "fingerprint.files", FACT_INT, "files", "files hashed")
X(FINGERPRINT_BYTES, "fingerprint.bytes", FACT_INT, "bytes", "bytes hashed")
X(FINGERPRINT_PROBLEM, "fingerprint.problem", FACT_TEXT, "",
  "a file that could not be hashed or is not whole <file>")
X(FINGERPRINT_BASELINE, "fingerprint.baseline", FACT_TEXT, "",
  "same or changed against the named baseline <baseline>")

/* Distribution, beside the checklist. */
X(DISTRIBUTION_SHARDS, "distribution.shards", FACT_INT, "files", "weight files present and whole")
X(DISTRIBUTION_SHARDS_NAMED, "distribution.shards.named", FACT_INT, "files",
  "weight files that the index names")
X(DISTRIBUTION_PROBLEM, "distribution.problem", FACT_TEXT, "",
  "a weight file that is missing, short, long or a pointer <file>")
