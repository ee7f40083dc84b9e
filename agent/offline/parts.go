package offline

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var seriesName = pattern.New(`^(.*?[^\d]|)(\d{1,3})([^\d].*|)$`)

// datedName: what is named after its day or month has no number that could be
// missing.
var datedName = pattern.New(`(?:^|\D)(?:19|20)\d\d[-_.]?(?:0[1-9]|1[0-2])(?:\D|[0-3]\d(?:\D|$)|$)`)

// gapInSeries: numbered documents of one form with a number missing.
func gapInSeries(s *sight) []finding {
	series := map[string]map[int]*project.File{}
	var order []string
	for _, f := range s.Of(project.Doc) {
		m := seriesName.FindStringSubmatch(strings.TrimSuffix(f.Base, path.Ext(f.Base)))
		if m == nil || !f.Read || !citable(f.Path) || datedName.MatchString(f.Base) {
			continue
		}
		key := f.Dir + "/" + m[1] + "|" + path.Ext(f.Base)
		if series[key] == nil {
			series[key] = map[int]*project.File{}
			order = append(order, key)
		}
		series[key][atoi(m[2])] = f
	}
	for _, key := range order {
		got := series[key]
		low, high := 1<<30, 0
		for n := range got {
			low, high = min(low, n), max(high, n)
		}
		missing := high - low + 1 - len(got)
		if len(got) < 4 || low > 1 || missing == 0 || missing > 2 || high > 200 {
			continue
		}
		for n := low; n <= high; n++ {
			if got[n] != nil || got[n-1] == nil || got[n-1].Lines == 0 {
				continue
			}
			next := n + 1
			for got[next] == nil {
				next++
			}
			if got[next].Lines == 0 {
				return nil
			}
			return []finding{found(fmt.Sprintf("number %d", n),
				"The series in `%s/` has a gap: after %s comes %s, and there is no number %d.", got[n-1].Dir, at(got[n-1], 1),
				at(got[next], 1), n).
				then(fmt.Sprintf("Write number %d, or number the rest anew.", n), costHour, "the question what is missing").
				weighs(contradicted-10, "chapters contents documentation plan")}
		}
	}
	return nil
}

var (
	chapterCount = pattern.New(`(?i)\b(\d{1,2}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve` +
		`|thirteen` +
		`|fourteen|fifteen|sixteen|eighteen|twenty)\s+(chapters|parts|sections|scenes|episodes)\b`)
	smallNumbers = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen " +
		"" +
		"fifteen sixteen seventeen eighteen nineteen twenty")
)

// countedParts: a document says how many chapters there are, and the directory
// of that name holds another number.
func countedParts(s *sight) []finding {
	for _, f := range s.documents() {
		for _, l := range proseOf(f) {
			m := chapterCount.FindStringSubmatch(l.text)
			if m == nil {
				continue
			}
			said := atoi(m[1])
			if i := slices.Index(smallNumbers, strings.ToLower(m[1])); i >= 0 {
				said = i
			}
			dir := path.Join(f.Dir, strings.ToLower(m[2]))
			if !s.IsDir(dir) {
				dir = strings.ToLower(m[2])
			}
			have := 0
			var last *project.File
			for _, x := range s.Of(project.Doc) {
				if x.Dir == dir && !strings.HasPrefix(strings.ToUpper(x.Base), "README") &&
					!strings.HasPrefix(strings.ToLower(x.Base), "index") && seriesName.MatchString(x.Base) {
					have++
					last = x
				}
			}
			if have < 3 || have == said || !citable(last.Path) || last.Lines == 0 {
				continue
			}
			return []finding{found("`"+dir+"/`", "%s speaks of %s %s, and `%s/` holds %d numbered files, the last %s.", at(f,
				l.n), m[1], m[2], dir, have, at(last, 1)).
				then("Count again, and put the number right at "+at(f, l.n).place()+".", costMinutes,
					"a plan that promises what is not there").
				weighs(worthKnowing+5, "chapters contents plan documentation")}
		}
	}
	return nil
}

// placeholderText are the marks that nobody leaves in a finished text. A name in
// brackets that the reader fills in, a "???" that opens a block and a thing "to
// be written" by a program are none.
var placeholderText = pattern.New(`\bTBD\b|\bTBC\b|[|:(]\s*\?\?\?\s*(?:[|).]|$)` +
	`|(?i:\[(?:insert|fill in|todo|tbd|tbc|placeholder)\b[^\]()]{0,60}\](?:[^(\[:]|$)|^\W*lorem ipsum\b` +
	`|<(?:insert|fill in)\b[^>]{1,40}>|\bcoming soon\b` +
	`|(?:^\s*(?:[-*+]\s+)?|[|:(–—]\s*)[*_]*to be (?:written|decided|confirmed|determined)[*_]*\s*(?:[.)|]|$))`)

// specimen knows what is there to be filled in by others, or shows how.
var specimen = pattern.New(`(?i)style[^/]*$|template|(?:^|/)(?:examples?|samples?|demos?)/`)

// leftOpen are places that a document leaves to be filled.
func leftOpen(s *sight) []finding {
	var where places
	n := 0
	docs := s.documents()
	slices.SortStableFunc(docs, first)
	for _, f := range docs {
		if s.HasCode() && !prominent(f) || specimen.MatchString(f.Path) {
			continue
		}
		for _, l := range proseOf(f) {
			if !placeholderText.MatchString(l.text) || strings.Contains(l.text, "|---") || strings.Contains(l.code,
				"`TBD`") || openBox.MatchString(l.text) {
				continue
			}
			n++
			if len(where) < maxPlaces && at(f, l.n).quote != "" {
				where = append(where, at(f, l.n))
			}
		}
	}
	if len(where) == 0 {
		return nil
	}
	text := "At least %d places are still to be filled: %s."
	args := []any{n, where}
	if n == 1 {
		text, args = "A place is still to be filled: %s.", []any{where}
	}
	if n > len(where) {
		text = "At least %d places are still to be filled, among them %s."
	}
	return []finding{found("what is still open", text, args...).
		then("Fill "+where[0].place()+", or strike it out.", costHour, "a reader who takes a blank for an answer").
		weighs(costly, "documentation plan open placeholder")}
}
