package means

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/gateway"
	"conclave/internal/atomicfile"
	"conclave/internal/nearest"
	"conclave/internal/price"
	"conclave/workspace"
)

// Patience is how long a provider may take to list its models; a turn that could
// be asked is not kept waiting for longer.
const Patience = 5 * time.Second

// Lists keeps the lists of models that providers gave, in a file; "" for nowhere.
// Nothing depends on it but the time of asking again.
type Lists struct{ File string }

// NoModelError is a model that its provider does not have.
type NoModelError struct {
	Model, Where string
	Names        []string // that it has
}

func (e *NoModelError) Error() string {
	meant := ""
	if near := nearest.Of(e.Model, e.Names); near != "" {
		meant = "; did you mean " + near + "?"
	}
	return fmt.Sprintf("%s has no model %q%s\nit has: %s", e.Where, e.Model, meant, Some(e.Names, e.Model))
}

// Check refuses a model that its provider does not have, with the names that there
// are. A provider that gives no list is taken at its word when it is asked. A list
// that is kept is asked for again when it does not have the name.
func (l Lists) Check(ctx context.Context, up gateway.Upstream, model string) error {
	kept := l.read()
	where := string(up.Kind) + " " + up.BaseURL
	if Has(kept[where], model) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	names, err := gateway.Models(ctx, up)
	if err != nil {
		return nil // the first turn says what is wrong
	}
	if !Has(names, model) {
		return &NoModelError{Model: model, Where: up.BaseURL, Names: names}
	}
	kept[where] = names
	l.keep(kept)
	return nil
}

// Has says whether a list has a model, by its name or by that of one of its
// snapshots.
func Has(names []string, model string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return price.Undated(n) == price.Undated(model) || n == model+":latest"
	})
}

// mostNames is how many models are listed at once.
const mostNames = 24

// Some lists models, those first that are the likest to what was meant.
func Some(names []string, meant string) string {
	list := slices.Clone(names)
	if meant != "" {
		slices.SortStableFunc(list, func(a, b string) int {
			return nearest.Distance(a, meant) - nearest.Distance(b, meant)
		})
	}
	more := ""
	if n := len(list) - mostNames; n > 0 {
		list, more = list[:mostNames], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(list, ", ") + more
}

// read reads what is kept; what cannot be read is asked for again.
func (l Lists) read() map[string][]string {
	kept := map[string][]string{}
	if l.File == "" {
		return kept
	}
	data, err := workspace.ReadNamed(l.File, workspace.MaxText)
	if err != nil || json.Unmarshal(data, &kept) != nil || kept == nil {
		return map[string][]string{}
	}
	return kept
}

func (l Lists) keep(kept map[string][]string) {
	if l.File == "" {
		return
	}
	data, err := json.Marshal(kept)
	if err == nil && os.MkdirAll(filepath.Dir(l.File), 0o700) == nil {
		_ = atomicfile.Replace(l.File, data, 0o600) // or it is asked for again
	}
}
