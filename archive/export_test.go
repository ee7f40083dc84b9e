package archive

import "database/sql"

// CacheExt is how the names of caches end.
const CacheExt = cacheExt

// Writer is the handle that writes.
func (a *Archive) Writer() *sql.DB { return a.db }

// SetProgress changes who is told of progress.
func (a *Archive) SetProgress(f func(done, total int64)) { a.opts.Progress = f }

// CommitEvery makes transactions shorter.
func (a *Archive) CommitEvery(bytes int64) { a.commitBytes = bytes }
