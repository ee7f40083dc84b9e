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
-- What the derived tables and the views were made by.
CREATE TABLE made (
  what TEXT PRIMARY KEY,
  sum  TEXT NOT NULL
) STRICT;
