package layers

import (
	"go/ast"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// options are the structs by which a package is told what to do.
var options = regexp.MustCompile(`(Options|Config|Plan|Limits|Spec|Settings)$`)

// Why a field that nobody sets stays.
const (
	bound  = "a bound with a default; tests lower it"
	seam   = "for tests alone"
	passed = "session/kind is told, and passes it on"
	waits  = "a choice with tests and without a caller: to be wired or deleted"
)

// unset are the fields that nobody sets. The list only becomes shorter.
var unset = map[string]string{
	"agent.Spec.Fork":                    waits,
	"agent/claude.Config.Settle":         bound,
	"agent/claude.Config.SlashCommands":  waits,
	"collect.Options.NoEvents":           seam,
	"forwarder.Limits.HeadTime":          bound,
	"forwarder.Limits.Silence":           bound,
	"forwarder.Limits.Tunnels":           bound,
	"gateway.Limits.BodyTime":            bound,
	"gateway.Limits.BytesInFlight":       bound,
	"gateway.Limits.Connections":         bound,
	"gateway.Limits.HeaderTime":          bound,
	"gateway.Limits.IdleTime":            bound,
	"gateway.Options.MaxRequest":         bound,
	"room.Limits.Disk":                   bound,
	"room.Limits.FileSize":               bound,
	"room.Limits.MaxCopy":                bound,
	"room.Limits.MaxFiles":               bound,
	"room.Limits.Memory":                 bound,
	"room.Limits.OpenFiles":              bound,
	"room.Limits.Processes":              bound,
	"session/claude.Options.Reuse":       passed,
	"table.GuardSettings.Tagged":         waits,
	"table/flow.Options.Backoff":         seam,
	"table/flow.Options.Caps":            seam,
	"table/flow.Options.Crash":           seam,
	"table/flow.Options.DrainWait":       seam,
	"table/flow.Options.GMReadsJournals": waits,
	"table/flow.Options.Guard":           waits,
	"table/flow.Options.JournalWait":     seam,
	"table/flow.Options.RoomBase":        seam,
	"table/flow.Options.TestSeed":        seam,
	"toolbox.Options.MaxCalls":           bound,
	"toolbox.Options.MaxInput":           bound,
}

// A choice that no caller makes is none: the field and the code behind it only
// look like a feature. Set is what other packages of the program write in a
// literal, assign, or hand out the address of. Fields with a tag are read from
// files.
func TestOptionsAreSet(t *testing.T) {
	fields, sets, aliases := map[string]bool{}, map[string]bool{}, map[string]string{}
	program := reachable(imports(t, "../.."), program)
	eachFile(t, func(pkg string, _ *token.FileSet, file *ast.File) {
		if !program[pkg] {
			return
		}
		optionFields(pkg, file, fields)
		set := setter{pkg: pkg, names: importNames(file), sets: sets, aliases: aliases}
		ast.Inspect(file, func(n ast.Node) bool {
			set.see(n)
			return true
		})
	})
	for alias, of := range aliases {
		for set := range maps.Clone(sets) {
			if field, ok := strings.CutPrefix(set, alias+"."); ok {
				sets[of+"."+field] = true
			}
		}
	}
	if len(fields) < 100 {
		t.Fatalf("found only %d fields: the search is broken", len(fields))
	}
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		pkg, rest, _ := strings.Cut(field, ".")
		_, name, _ := strings.Cut(rest, ".")
		isSet := sets[field]
		for by := range sets {
			who, what, ok := strings.Cut(by, " ")
			isSet = isSet || ok && what == name && who != pkg
		}
		if why := unset[field]; isSet == (why != "") {
			t.Errorf("%s: set %v, and the list says %q", field, isSet, why)
		}
	}
	for field := range unset {
		if !fields[field] {
			t.Errorf("%s is on the list and not in the house", field)
		}
	}
}

// optionFields notes exported fields without a tag as package.Type.Field.
func optionFields(pkg string, file *ast.File, fields map[string]bool) {
	for _, d := range file.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			typ, ok := spec.(*ast.TypeSpec)
			if !ok || !typ.Name.IsExported() || !options.MatchString(typ.Name.Name) {
				continue
			}
			form, ok := typ.Type.(*ast.StructType)
			if !ok {
				continue
			}
			for _, f := range form.Fields.List {
				for _, name := range f.Names {
					if name.IsExported() && f.Tag == nil {
						fields[pkg+"."+typ.Name.Name+"."+name.Name] = true
					}
				}
			}
		}
	}
}

// setter notes what a file sets: package.Type.Field in a literal of a named
// type, and "package Field" where only the field's name is known.
type setter struct {
	pkg   string
	names map[string]string // of imports
	sets  map[string]bool
	// aliases of types in other packages, as package.Type
	aliases map[string]string
}

func (s setter) see(n ast.Node) {
	switch n := n.(type) {
	case *ast.CompositeLit:
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.Ident); ok {
					s.literal(n.Type, key.Name)
				}
			}
		}
	case *ast.TypeSpec:
		if of, ok := n.Type.(*ast.SelectorExpr); ok && n.Assign.IsValid() {
			if x, ok := of.X.(*ast.Ident); ok {
				s.aliases[s.pkg+"."+n.Name.Name] = s.names[x.Name] + "." + of.Sel.Name
			}
		}
	case *ast.AssignStmt:
		for _, left := range n.Lhs {
			s.selector(left)
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			s.selector(n.X)
		}
	}
}

func (s setter) literal(typ ast.Expr, field string) {
	switch typ := typ.(type) {
	case *ast.SelectorExpr:
		if x, ok := typ.X.(*ast.Ident); ok {
			s.sets[s.names[x.Name]+"."+typ.Sel.Name+"."+field] = true
		}
	case nil: // an element of a list or a map of them
		s.sets[s.pkg+" "+field] = true
	}
}

func (s setter) selector(e ast.Expr) {
	if sel, ok := e.(*ast.SelectorExpr); ok {
		s.sets[s.pkg+" "+sel.Sel.Name] = true
	}
}

// importNames are the packages of the house by the names that a file gives them.
func importNames(file *ast.File) map[string]string {
	names := map[string]string{}
	for _, spec := range file.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		mine, ok := strings.CutPrefix(imp, module+"/")
		if err != nil || !ok {
			continue
		}
		name := path.Base(mine)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = mine
	}
	return names
}
