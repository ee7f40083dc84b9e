package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"conclave/usage"
)

// What was used.
type (
	Used      = usage.Report
	UsedGroup = usage.Group
)

// UsageOf is whose tokens are counted, and how they are summed.
type UsageOf struct {
	Paths        []string // "" are this workspace's records and the programs' sessions
	By           string   // day, project, model, role or session
	Since, Until string   // 2d, 2026-02-18
	NoCache      bool     // read everything again
}

// Usage counts tokens and their cost, each response once.
func (a *App) Usage(ctx context.Context, u UsageOf) (Used, error) {
	o := usage.Options{By: u.By}
	var err error
	if o.Since, err = pointInTime("--since", u.Since); err != nil {
		return Used{}, err
	}
	if o.Until, err = pointInTime("--until", u.Until); err != nil {
		return Used{}, err
	}
	if !u.NoCache {
		o.Cache = filepath.Join(a.cacheDir(), "usage")
	}
	if a.Remote != nil && len(u.Paths) > 0 {
		return Used{}, personsOwn("whose tokens are counted")
	}
	narrow := a.Remote != nil && !a.Remote.WholeArchive
	roots, err := a.usageRoots(ctx, u.Paths, narrow)
	if err != nil {
		return Used{}, err
	}
	if narrow {
		o.Cache = "" // it is kept of everything that is counted
	}
	own, err := a.ownConfig()
	if err != nil {
		return Used{}, err
	}
	o.Prices = own.PriceList()
	if _, err := os.Stat(a.archivePath("")); err == nil && !narrow {
		x, err := a.archiveIn(ArchiveAt{})
		if err != nil {
			return Used{}, err
		}
		defer x.Close()
		o.Archive = x
	}
	used, err := usage.Count(ctx, roots, o)
	if errors.Is(err, usage.ErrNoSuchGroup) {
		return used, usageError("--by: %w", err)
	}
	return used, refusedHere(err)
}

// usageRoots are where to count: for a caller the records that it may read.
func (a *App) usageRoots(ctx context.Context, named []string, narrow bool) (roots []string, err error) {
	if !narrow {
		return a.sessionRoots(ctx, named)
	}
	root, err := a.rootToRead()
	if err != nil {
		return nil, err
	}
	list, err := a.readable(root)
	for _, info := range list {
		roots = append(roots, info.Path)
	}
	return roots, err
}
