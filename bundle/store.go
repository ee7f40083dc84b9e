package bundle

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// Store takes a finished bundle elsewhere: to a shared directory, an object
// store. The local bundle stays, whatever Store says.
type Store func(ctx context.Context, path string, m Manifest) error

// Program is a Store that runs a program with the bundle's path as its last
// argument and the manifest on its standard input. It has a minute, or what is
// left of ctx.
func Program(name string, args ...string) Store {
	return func(ctx context.Context, path string, m Manifest) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		text, err := json.Marshal(m)
		if err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, name, append(args, path)...)
		cmd.Stdin = bytes.NewReader(text)
		cmd.WaitDelay = time.Second
		said := &limited{max: 4 << 10}
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(said.String()))
		}
		return nil
	}
}

// Settle does what comes after a bundle: retention in its directory, then the
// storage hook. It returns what it removed and warnings; neither is ever a
// reason to call the run or the bundle failed.
func Settle(ctx context.Context, made Created, dir string, p Policy, store Store, now time.Time) (removed []Info, warnings []error) {
	if p != (Policy{}) {
		var err error
		if removed, err = Prune(dir, p, now, made.Path); err != nil {
			warnings = append(warnings, fmt.Errorf("retention: %w", err))
		}
	}
	if store != nil {
		if err := careful(ctx, store, made); err != nil {
			warnings = append(warnings, fmt.Errorf("storage hook: %w", err))
		}
	}
	return removed, warnings
}

// careful turns a panic of the hook into a warning.
func careful(ctx context.Context, store Store, made Created) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("it panicked: %v", v)
		}
	}()
	return store(ctx, made.Path, made.Manifest)
}
