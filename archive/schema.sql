-- The raw store: what everything else is made of.
CREATE TABLE sources (
  id         INTEGER PRIMARY KEY,
  kind       TEXT NOT NULL,               -- record, claude, codex, log, bundle
  path       TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,  -- of a path whose file was replaced
  state      TEXT NOT NULL DEFAULT 'live', -- live, gone, replaced
  run        TEXT NOT NULL DEFAULT '',
  pos        INTEGER NOT NULL DEFAULT 0,  -- bytes that are in the store
  size       INTEGER NOT NULL DEFAULT 0,  -- of the file, when it was last read
  mtime      INTEGER NOT NULL DEFAULT 0,
  redacted   INTEGER NOT NULL DEFAULT 0,
  problem    TEXT NOT NULL DEFAULT '',    -- why no more of it could be read
  header     TEXT NOT NULL DEFAULT '',    -- of a record
  seal       TEXT NOT NULL DEFAULT '',
  UNIQUE (path, generation)
) STRICT;
CREATE TABLE blocks (
  id     INTEGER PRIMARY KEY,
  sum    BLOB NOT NULL,
  size   INTEGER NOT NULL,
  packed BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX blocks_sum ON blocks(sum);
CREATE TABLE source_blocks (
  source INTEGER NOT NULL,
  pos    INTEGER NOT NULL,
  block  INTEGER NOT NULL,
  seq    INTEGER NOT NULL,   -- entries of the source before it
  first  INTEGER NOT NULL,   -- the ids of its items
  count  INTEGER NOT NULL,
  open   INTEGER NOT NULL,   -- it is read again when the file has grown
  cursor BLOB,
  PRIMARY KEY (source, pos)
) STRICT, WITHOUT ROWID;
CREATE INDEX source_blocks_block ON source_blocks(block);

-- Derived.
CREATE TABLE origins (
  id          INTEGER PRIMARY KEY,
  prompt_name TEXT NOT NULL,
  adapter     TEXT NOT NULL,
  source      TEXT NOT NULL,
  session_id  TEXT NOT NULL,
  seat        TEXT NOT NULL,
  project     TEXT NOT NULL,
  UNIQUE (prompt_name, adapter, source, session_id, seat, project)
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
CREATE TABLE usage_rows (
  item        INTEGER PRIMARY KEY,
  source      INTEGER NOT NULL,
  key         TEXT NOT NULL,
  model       TEXT NOT NULL,
  at          INTEGER,
  input       INTEGER NOT NULL,
  output      INTEGER NOT NULL,
  cache_read  INTEGER NOT NULL,
  cache_write INTEGER NOT NULL
) STRICT;
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
