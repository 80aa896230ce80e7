-- The store of assay, version 1. ASCII only. What is received and never changes stands first; the
-- verdicts, which can be dropped and derived again, stand last. Times are seconds since 1970, UTC.
-- Tables for single tensors, time series and backends come with what fills them.

CREATE TABLE subject (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,      -- what a user types to find it: the real path of a folder
    kind TEXT NOT NULL              -- what the place is: "folder", "hub cache"
) STRICT;

CREATE TABLE snapshot (
    id INTEGER PRIMARY KEY,
    subject INTEGER NOT NULL REFERENCES subject (id),
    digest TEXT,                    -- 64 hex digits over the manifest; NULL if a file could not be read
    first_seen INTEGER NOT NULL,    -- seconds since 1970
    last_seen INTEGER NOT NULL,     -- seconds since 1970
    seen INTEGER NOT NULL UNIQUE,   -- order of the last sightings in this store, from 1
    UNIQUE (subject, digest)        -- of NULLs there may be many
) STRICT;

CREATE TABLE file (
    snapshot INTEGER NOT NULL REFERENCES snapshot (id),
    path TEXT NOT NULL,             -- relative to the subject
    size INTEGER NOT NULL CHECK (size >= 0), -- bytes
    sha256 TEXT,                    -- 64 hex digits; NULL if it could not be computed
    state TEXT NOT NULL CHECK (state IN ('ok', 'missing', 'unreadable', 'changed', 'pointer')),
    why TEXT NOT NULL,              -- of a state that is not ok
    weight INTEGER NOT NULL CHECK (weight IN (0, 1)), -- 1: a weight file; 0: config, index
    PRIMARY KEY (snapshot, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE baseline (
    name TEXT PRIMARY KEY,
    snapshot INTEGER NOT NULL REFERENCES snapshot (id),
    named INTEGER NOT NULL          -- seconds since 1970
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    subject INTEGER NOT NULL REFERENCES subject (id),
    snapshot INTEGER REFERENCES snapshot (id), -- NULL until the files are hashed
    policy_name TEXT NOT NULL,
    policy TEXT NOT NULL,           -- JSON, as used
    started INTEGER NOT NULL,       -- seconds since 1970
    finished INTEGER                -- seconds since 1970; NULL while it is not
) STRICT;
CREATE INDEX run_by_subject ON run (subject);

-- Written once: the program has no UPDATE of it, and its connection refuses one.
CREATE TABLE fact (
    id INTEGER PRIMARY KEY,         -- grows in the order of writing within a run
    run INTEGER NOT NULL REFERENCES run (id),
    key TEXT NOT NULL,              -- a name of core/fact_keys.h, which has type and unit
    scope TEXT NOT NULL,            -- layer kind, file, backend; '' for the whole subject
    state TEXT NOT NULL CHECK (state IN ('known', 'absent', 'unknown')),
    whole INTEGER,                  -- value of an integer or a truth value, in the key's unit
    real REAL,                      -- value of a real, in the key's unit; NULL is NaN
    error REAL,                     -- half width of the real's spread, in the key's unit; 0 exact
    text TEXT,                      -- value of a text
    source TEXT NOT NULL,           -- where it was seen
    why TEXT NOT NULL,              -- of an unknown one: what stood in the way
    UNIQUE (run, key, scope)
) STRICT;

CREATE TABLE point (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id),
    series TEXT NOT NULL,           -- "cache.measured"
    scope TEXT NOT NULL,            -- mixer kind
    x REAL,                         -- in x_unit; NULL is NaN
    y REAL,                         -- in y_unit; NULL is NaN: the point is missing
    y_error REAL,                   -- half width of the spread, in y_unit; 0 exact, NULL is NaN
    x_unit TEXT NOT NULL,
    y_unit TEXT NOT NULL,
    note TEXT NOT NULL              -- why the point is missing
) STRICT;
CREATE INDEX point_by_run ON point (run);

CREATE TABLE load (
    run INTEGER NOT NULL REFERENCES run (id),
    layer INTEGER NOT NULL,
    expert INTEGER NOT NULL,
    tokens INTEGER NOT NULL CHECK (tokens >= 0), -- tokens that the expert got
    PRIMARY KEY (run, layer, expert)
) STRICT, WITHOUT ROWID;

CREATE TABLE support (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id),
    backend TEXT NOT NULL,
    kind TEXT NOT NULL,             -- "format" or "operator"
    entry TEXT NOT NULL,            -- the format or operator
    hardware TEXT NOT NULL,         -- '' for any
    status TEXT NOT NULL,
    condition TEXT NOT NULL,        -- under which the status holds; '' for none
    source TEXT NOT NULL,           -- file and line, or page
    as_of TEXT NOT NULL             -- date or version of the source
) STRICT;
CREATE INDEX support_by_run ON support (run);

CREATE TABLE verdict (
    id INTEGER PRIMARY KEY,         -- grows in the order of writing within a run
    run INTEGER NOT NULL REFERENCES run (id),
    item TEXT NOT NULL,             -- a name of core/verdict.h: "formats"
    rule TEXT NOT NULL,
    sum INTEGER NOT NULL CHECK (sum IN (0, 1)),           -- 1: of the whole item
    required INTEGER NOT NULL CHECK (required IN (0, 1)), -- 1: decides readiness
    status TEXT NOT NULL,           -- a name of core/verdict.h: "pass"
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    advice TEXT NOT NULL
) STRICT;
CREATE INDEX verdict_by_run ON verdict (run);

CREATE TABLE verdict_fact (
    verdict INTEGER NOT NULL REFERENCES verdict (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,          -- order of weight, from 0
    fact INTEGER NOT NULL REFERENCES fact (id),
    PRIMARY KEY (verdict, rank)
) STRICT, WITHOUT ROWID;

PRAGMA application_id = 1634951545; -- "asay"
PRAGMA user_version = 1;
