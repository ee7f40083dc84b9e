-- Derived.
CREATE TABLE origins (
  id          INTEGER PRIMARY KEY,
  prompt_name TEXT NOT NULL,
  adapter     TEXT NOT NULL,
  source      TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  seat        TEXT NOT NULL,
  project     TEXT NOT NULL,
  whose       TEXT NOT NULL,     -- the identity of the session, see package session
  UNIQUE (prompt_name, adapter, source, session_id, seat, project, whose)
) STRICT;
CREATE TABLE items (
  id      INTEGER PRIMARY KEY,
  source  INTEGER NOT NULL,
  origin  INTEGER,
  agent   TEXT,              -- the origin's source: entries are counted by type and agent
  type    TEXT,              -- of an entry; NULL: a log record that is none
  seq     INTEGER,
  at      INTEGER,
  block   INTEGER NOT NULL,
  off     INTEGER NOT NULL,
  size    INTEGER NOT NULL,
  part    INTEGER NOT NULL,
  line    INTEGER,           -- of its session: the same in every source that has it
  copy    INTEGER,           -- the source that has it, too, and shows it
  chars   INTEGER NOT NULL,
  doc     INTEGER,
  tool    TEXT,
  tool_id TEXT,
  subtype TEXT,
  failed  INTEGER,
  level   TEXT,
  logger  TEXT,
  event   TEXT,
  message TEXT
) STRICT;
CREATE INDEX items_source ON items(source, seq);
CREATE INDEX items_doc ON items(doc) WHERE doc IS NOT NULL;
-- Which sources hold a session, or a part of it.
CREATE TABLE holdings (
  whose  TEXT NOT NULL,
  source INTEGER NOT NULL,
  began  INTEGER NOT NULL,   -- when the session began, 0: not known
  PRIMARY KEY (whose, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX holdings_source ON holdings(source);
CREATE TABLE usage_rows (
  item        INTEGER PRIMARY KEY,
  source      INTEGER NOT NULL,
  key         TEXT NOT NULL,
  model       TEXT NOT NULL,
  at          INTEGER,
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,   -- of cache_write
  web_searches   INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_source ON usage_rows(source);
-- What programs themselves have counted, and what of it no response tells of.
CREATE TABLE sums (
  item           INTEGER NOT NULL,
  source         INTEGER NOT NULL,
  program        TEXT NOT NULL,
  session        TEXT NOT NULL,
  at             INTEGER NOT NULL,
  started        INTEGER NOT NULL,
  model          TEXT NOT NULL,
  input          INTEGER NOT NULL,
  output         INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  cache_write    INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  web_searches   INTEGER NOT NULL,
  PRIMARY KEY (item, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX sums_session ON sums(session, started);
CREATE INDEX sums_started ON sums(started);
CREATE TABLE unwritten (
  item           INTEGER NOT NULL,
  source         INTEGER NOT NULL,
  key            TEXT NOT NULL,
  model          TEXT NOT NULL,
  at             INTEGER,
  input          INTEGER NOT NULL,
  output         INTEGER NOT NULL,
  cache_read     INTEGER NOT NULL,
  cache_write    INTEGER NOT NULL,
  cache_write_1h INTEGER NOT NULL,
  web_searches   INTEGER NOT NULL,
  started        INTEGER NOT NULL
) STRICT;
CREATE INDEX unwritten_started ON unwritten(started);
CREATE TABLE findings (
  source INTEGER NOT NULL,
  rule   TEXT NOT NULL,
  turn   TEXT NOT NULL,
  frame  INTEGER NOT NULL,
  what   TEXT NOT NULL
) STRICT;
CREATE TABLE documents (
  source INTEGER NOT NULL,
  name   TEXT NOT NULL,     -- manifest, config, metrics, run_context …
  key    TEXT NOT NULL,
  value  TEXT
) STRICT;
CREATE TABLE slices (
  source     INTEGER NOT NULL,
  slice_type TEXT NOT NULL,
  data       TEXT NOT NULL
) STRICT;
CREATE TABLE bundle_files (
  source     INTEGER NOT NULL,
  path       TEXT NOT NULL,
  content    TEXT,
  size_bytes INTEGER NOT NULL
) STRICT;
