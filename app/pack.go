package app

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"conclave/profile"
)

// PackLibrary is the search path for packs.
func (a *App) PackLibrary() (profile.Library, error) {
	root, err := a.FindRoot()
	l := profile.Library{Project: filepath.Join(root, packsDir)}
	if data := a.UserDataDir(); data != "" {
		l.User = filepath.Join(data, "conclave", "profile-packs")
	}
	return l, err
}

// OpenPack finds a pack by name, or by path if it looks like one.
func (a *App) OpenPack(name string) (*profile.Pack, error) {
	if strings.ContainsAny(name, `/\`) || profile.IsArchive(name) || name == "." || name == ".." {
		p, err := profile.Load(a.AbsPath(name))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usageError("there is no pack at %s", name)
		}
		if err != nil {
			return nil, environmentError("%w", err)
		}
		a.ShortenFaults(p.Faults)
		return p, nil
	}
	library, err := a.PackLibrary()
	if err != nil {
		return nil, err
	}
	p, err := library.Find(name)
	if err != nil {
		return nil, usageError("%w", err)
	}
	a.ShortenFaults(p.Faults)
	return p, nil
}

// ShortenFaults makes the files of faults relative to where the person is.
func (a *App) ShortenFaults(faults []profile.Fault) {
	for i, f := range faults {
		if rest, ok := strings.CutPrefix(f.File, filepath.ToSlash(a.Dir)+"/"); ok {
			faults[i].File = rest
		}
	}
}
