package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"conclave/gate"
	"conclave/receipt"
)

// shape counts the parts of a page as another reader sees it, and collects what
// it shows.
func shape(t rapid.TB, page []byte) (parts map[string]int, shown string) {
	t.Helper()
	parts = map[string]int{}
	var b strings.Builder
	tree := goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote)).Parser().Parse(text.NewReader(page))
	err := ast.Walk(tree, func(n ast.Node, in bool) (ast.WalkStatus, error) {
		if !in {
			return ast.WalkContinue, nil
		}
		parts[n.Kind().String()]++
		if row, ok := n.(*east.TableRow); ok {
			if votes := row.LastChild().FirstChild(); votes == nil || !bytes.Contains(votes.(*ast.Text).Value(page), []byte(" met, ")) {
				t.Fatalf("a row of the table has cells that are not ours:\n%s", page)
			}
		}
		if leaf, ok := n.(*ast.Text); ok {
			b.Write(leaf.Segment.Value(page))
			b.WriteByte(' ')
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return parts, b.String()
}

// ours are the parts of which our pages are made.
var ours = map[string]bool{
	ast.KindDocument.String(): true, ast.KindHeading.String(): true, ast.KindParagraph.String(): true, ast.KindText.String(): true,
	ast.KindBlockquote.String(): true, east.KindTable.String(): true, east.KindTableHeader.String(): true,
	east.KindTableRow.String(): true, east.KindTableCell.String(): true,
}

func TestMarkdown(t *testing.T) {
	page := string(Markdown(someGate()))
	for _, want := range []string{"## ❌ NOT MET – criteria: committed at 1f1f1f1f1f1f\n", "| ✅ met | 1\\. It compiles | 3 met, 0 not met |\n",
		"| ❓ not judged | 3\\. It is loved by all | 0 met, 0 not met, 3 abstained |\n", "3 judges, which are repeats and not independent"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
}

// references are what code hosts make links of in a text that is already shown.
var references = regexp.MustCompile(`@[\pL\pN]|[#!~$%][0-9]|[hH][tT][tT][pP][sS]?\\?:\\?/|(?i:www)\\?\.`)

func TestHostileWordsInMarkdown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := hostileGate().Draw(t, "gate")
		page := Markdown(g)
		parts, shown := shape(t, page)
		for kind := range parts {
			if !ours[kind] {
				t.Fatalf("a part that is not ours: %s in\n%s", kind, page)
			}
		}
		unmet := 0
		for _, c := range g.Decision.Criteria {
			if c.Status != gate.Met {
				unmet++
			}
		}
		if parts["Heading"] != 1+unmet || parts["Table"] != 1 || parts["TableRow"] != len(g.Decision.Criteria) ||
			parts["TableCell"] != 3*(1+len(g.Decision.Criteria)) {
			t.Fatalf("%v in\n%s", parts, page)
		}
		if m := references.FindString(shown); m != "" {
			t.Fatalf("%q would be a link in\n%s", m, page)
		}
	})
}

// A page that is too long says how much of it is missing, and keeps its receipt.
func TestMarkdownIsBounded(t *testing.T) {
	g := someGate()
	for i := range 400 {
		g.Decision.Criteria = append(g.Decision.Criteria, receipt.Decided{Number: 10 + i, Status: gate.NotMet, Why: strings.Repeat("<a> ", 1900)})
	}
	page := string(Markdown(g))
	if len(page) > 1<<20 || !strings.Contains(page, "lines more did not fit") || !strings.Contains(page, `receipt \.conclave/receipts`) {
		t.Errorf("%d bytes: …%s", len(page), page[len(page)-200:])
	}
}
