package offline

import (
	"slices"
	"strings"
	"time"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var (
	noteMark = pattern.New(`(?i)\b(?:TODO|FIXME|XXX|HACK|remove|delete|drop|expire[sd]?|deadline|due|temporary` +
		`|workaround|revisit|until|after|by)\b`)
	isoDate   = pattern.New(`\b(20\d\d)-(0[1-9]|1[0-2])(?:-(0[1-9]|[12]\d|3[01]))?\b`)
	monthDate = pattern.New(`\b(?:(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?)?(January|February|March|April|May|June` +
		`|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov` +
		`|Dec)\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(20\d\d)\b`)
	quarter = pattern.New(`\b(?:Q([1-4])\s*[/ -]?\s*(20\d\d)|(20\d\d)\s*[/ -]?\s*Q([1-4]))\b`)
)

// dateIn is the last day that a text can mean by its first date.
func dateIn(line string) (time.Time, string, bool) {
	if m := isoDate.FindStringSubmatch(line); m != nil {
		y, mo, d := atoi(m[1]), atoi(m[2]), atoi(m[3])
		return lastDay(y, mo, d), m[0], true
	}
	if m := monthDate.FindStringSubmatch(line); m != nil {
		mo := slices.IndexFunc(months, func(s string) bool { return strings.HasPrefix(s, strings.ToLower(m[2])[:3]) }) + 1
		return lastDay(atoi(m[4]), mo, atoi(m[1]+m[3])), m[0], true
	}
	if m := quarter.FindStringSubmatch(line); m != nil {
		return lastDay(atoi(m[2]+m[3]), 3*atoi(m[1]+m[4]), 0), m[0], true
	}
	return time.Time{}, "", false
}

var months = strings.Fields("january february march april may june july august september october november december")

// lastDay is the day, or the last of the month where none is named.
func lastDay(y, m, d int) time.Time {
	if d == 0 {
		return time.Date(y, time.Month(m)+1, 0, 0, 0, 0, 0, time.UTC)
	}
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
}

// comment is the part of a line of code that is one, "" for none.
func comment(line, lang string) string {
	marks := []string{"//", "/*"}
	switch lang {
	case "Python", "shell", "Ruby", "":
		marks = []string{"#"}
	case "SQL":
		marks = []string{"--"}
	}
	t := strings.TrimSpace(line)
	if (strings.HasPrefix(t, "*") || strings.HasPrefix(t, "<!--")) && lang != "Python" {
		return t
	}
	for _, m := range marks {
		i := strings.Index(line, m)
		if i >= 0 && (i == 0 || line[i-1] != ':') && strings.Count(line[:i], `"`)%2 == 0 && strings.Count(line[:i],
			"'")%2 == 0 && strings.Count(line[:i], "`")%2 == 0 {
			return line[i:]
		}
	}
	return ""
}

// yearIn says that a line may hold a year of this century: what most lines with a
// "20" in them do not.
func yearIn(line string) bool {
	for i := 0; i+4 <= len(line); i++ {
		if line[i] == '2' && line[i+1] == '0' && isDigit(line[i+2]) && isDigit(line[i+3]) &&
			(i == 0 || !isDigit(line[i-1])) && (i+4 == len(line) || !isDigit(line[i+4])) {
			return true
		}
	}
	return false
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

// overdueNote are notes in the code that name a day which has passed.
func overdueNote(s *sight) []finding {
	var g grouped
	when := ""
	for _, f := range s.own(project.Source, project.Test, project.Config) {
		if !strings.Contains(f.Text, "20") {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if !strings.Contains(line, "20") || len(line) > 400 || !yearIn(line) {
				continue
			}
			c := comment(line, f.Lang)
			if c == "" || !noteMark.MatchString(c) {
				continue
			}
			day, text, ok := dateIn(c)
			if !ok || !day.Before(s.today) || !isDeadline(c, text) || !acts.MatchString(noteWord.ReplaceAllString(c, "")) {
				continue
			}
			if g.n == 0 {
				when = text
			}
			g.add(f, n)
		}
	}
	if g.n == 0 {
		return nil
	}
	text := "A note bears a day that has passed (" + when + ") and still stands %s."
	if g.n > 1 {
		text = "Notes bear days that have passed, the first " + when + ", and still stand %s."
	}
	return []finding{g.said("old notes", text).
		then("Do what "+g.where[0].place()+" says, or strike it out.", costHour,
			"a note that everybody has learnt to pass by").
		weighs(costly+14, "todo notes deadline date process")}
}

var (
	acts = pattern.New(`(?i)\b(?:TODO|FIXME|XXX|HACK|remove|delete|drop|revisit|clean ?up|revert|switch` +
		`|migrate|replace|disable|enable|expires?|temporary|temporarily|workaround)\b`)
	untilDay = pattern.New(`(?i)\b(?:by|until|till|before|after|due(?: on| by| in)?|expires?(?: on| in)?|no later ` +
		`` +
		`than|deadline:?)\s+(?:the\s+)?(?:end of\s+)?$`)
	onDay = pattern.New(`(?i)\b(?:remove|delete|drop|revisit|switch|disable|enable|replace)\b[^.;]{0,40}\b(?:on` +
		`|in|from|as of)\s+(?:the\s+)?(?:end of\s+)?$`)
	ownDay = pattern.New(`(?i)\b(?:TODO|FIXME|XXX|HACK)\s*[(\[:]?\s*$`)
)

// noteWord says that something is a note, and nothing of what is to be done.
var noteWord = pattern.New(`(?i)\b(?:TODO|FIXME|XXX|HACK)\b`)

// isDeadline: the words before the date make it a day by which something is to
// be done; a date at which something was written or seen is none.
func isDeadline(c, date string) bool {
	before, _, _ := strings.Cut(c, date)
	return acts.MatchString(c) && untilDay.MatchString(before) || onDay.MatchString(before) || ownDay.MatchString(before)
}

var (
	willGo = pattern.New(`(?i)\b(?:(?:will|to|should|must|can|shall) be (?:removed|dropped|deleted)|(?:TODO` +
		`|FIXME)\b[^.]{0,60}\b(?:remove|drop|delete)\b|(?:remove|drop|delete) (?:this|it|me|these|them|when|in|with|after` +
		`|for|at)\b|scheduled for removal|slated for removal|going away)[^.\n]{0,40}?\b(?:in|with|by|after|at|for|from` +
		`|reaches|release)\s+(?:(?:the\s+)?(?:next\s+)?(?:version|release|major)\s+)?v?(\d+\.\d+(?:\.\d+)?|\d+\.x)\b`)
	goesIn = pattern.New(`\b(?:TODO|FIXME)\s*[:(]?\s*v?(\d+\.\d+(?:\.\d+)?)\)?\s*:\s*` +
		`(?:[Rr]emove|[Dd]rop|[Dd]elete)\b`)
	foreignVer = pattern.New(`(?i)\b(python|node|go|rust|java|jdk|django|flask|numpy|pandas|react|vue|angular` +
		`|typescript|ruby|php|kernel|linux|ubuntu|debian|chrome|firefox|safari|openssl|gcc|clang|llvm|postgres\w*|mysql` +
		`|sqlite|pytest|sphinx|setuptools|pip|maven|gradle|spring|guava|junit|tokio|serde|webpack|babel|eslint|c\+\+` +
		`|py)\s*(?:>=|version|v|=)?\s*$`)
)

// mayGo says that a line may announce a removal: an expression is tried on those
// alone.
func mayGo(line string) bool {
	return strings.ContainsAny(line, "0123456789") && (strings.Contains(line, "emov") || strings.Contains(line, "drop") ||
		strings.Contains(line, "Drop") || strings.Contains(line, "elete") || strings.Contains(line, "going away"))
}

// overdueVersion are notes that something goes in a version that has come.
func overdueVersion(s *sight) []finding {
	m := s.product()
	if m == nil {
		return nil
	}
	have, ok := project.ParseVersion(m.Version.Text)
	if !ok || have.Compare(project.Version{}) == 0 {
		return nil
	}
	var g grouped
	said := ""
	for _, f := range s.own(project.Source, project.Test) {
		low := strings.Contains(f.Text, "remov") || strings.Contains(f.Text, "Remov") || strings.Contains(f.Text,
			"drop") || strings.Contains(f.Text, "delete") || strings.Contains(f.Text, "going away")
		if !low {
			continue
		}
		for n, line := range project.Lines(f.Text) {
			if len(line) > 400 || !mayGo(line) {
				continue
			}
			x := willGo.FindStringSubmatchIndex(line)
			if x == nil {
				x = goesIn.FindStringSubmatchIndex(line)
			}
			if x == nil {
				continue
			}
			v, ok := project.ParseVersion(strings.TrimSuffix(line[x[2]:x[3]], ".x"))
			if !ok || v.Compare(have) > 0 || have.Pre && v.Compare(have) == 0 || foreignVer.MatchString(line[:x[2]]) ||
				foreignVer.MatchString(strings.TrimSpace(line[x[0]:x[2]])) || v.Parts[0] < have.Parts[0]-3 {
				continue
			}
			if g.n == 0 {
				said = line[x[2]:x[3]]
			}
			g.add(f, n)
		}
	}
	if g.n == 0 {
		return nil
	}
	f := g.said("overdue removals", "What was to go in "+said+" is still there %s; the project is at "+
		""+m.Version.Text+", "+at(m.File, m.Version.Line).String()+".")
	f.cites = append(f.cites, at(m.File, m.Version.Line))
	return []finding{f.then("Take it out, or name the version that is meant now at "+g.where[0].place()+".", costHour,
		"the question whether it was forgotten").
		weighs(costly+12, "todo deprecation removal version process")}
}

var openBox = pattern.New(`^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s+\S`)

// wholeLink is a link with its title: a day in it is that of what it leads to.
var wholeLink = pattern.New(`\[[^\]]+\]\([^)]*\)`)

// overdueTask are open tasks whose day has passed.
func overdueTask(s *sight) []finding {
	var g grouped
	when := ""
	for _, f := range s.documents() {
		for _, l := range proseOf(f) {
			open := openBox.MatchString(l.text) || openRow(l.text)
			if !open {
				continue
			}
			day, text, ok := dateIn(wholeLink.ReplaceAllString(l.text, " "))
			if !ok || !day.Before(s.today) {
				continue
			}
			if g.n == 0 {
				when = text
			}
			g.add(f, l.n)
			if len(g.where) < maxPlaces && g.where[len(g.where)-1].line != l.n {
				g.where = append(g.where, at(f, l.n))
			}
		}
	}
	for _, f := range s.own(project.Data) {
		for n, row := range rowsOf(f) {
			if n > 0 && slices.ContainsFunc(row.cells, isOpenWord) {
				if day, text, ok := dateIn(strings.Join(row.cells, " ; ")); ok && day.Before(s.today) {
					if g.n == 0 {
						when = text
					}
					g.add(f, row.n)
				}
			}
		}
	}
	if g.n == 0 {
		return nil
	}
	text := "A task is open though its day, " + when + ", has passed: %s."
	args := []any{g.where}
	if g.n > 1 {
		text, args = "%d tasks are open though their days have passed, among them %s.", []any{g.n, g.where}
	}
	return []finding{found("overdue tasks", text, args...).
		then("Tick "+g.where[0].place()+" off, give it a new day, or strike it out.", costMinutes,
			"a plan that nobody believes any more").
		weighs(costly+16, "tasks plan deadline date progress todo")}
}

var openWords = []string{"open", "todo", "to do", "pending", "in progress", "not started", "outstanding", "waiting",
	"unpaid", "due", "no"}

func isOpenWord(cell string) bool {
	return slices.Contains(openWords, strings.ToLower(strings.Trim(strings.TrimSpace(cell), "*_`☐ ")))
}

// openRow is a row of a table with a state that is not done.
func openRow(line string) bool {
	if !strings.HasPrefix(strings.TrimSpace(line), "|") {
		return false
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
	return len(cells) > 2 && slices.ContainsFunc(cells, isOpenWord)
}

var (
	weekdays = strings.Fields("sunday monday tuesday wednesday thursday friday saturday")
	dayDate  = pattern.New(`(?i)\b(Sun|Mon|Tues?|Wed(?:nes)?|Thur?s?|Fri` +
		`|Sat(?:ur)?)(?:day)?\.?,?\s+(?:the\s+)?(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?(January|February|March|April|May` +
		`|June` +
		`|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?,?\s+(20\d\d)\b`)
	dayISO = pattern.New(`(?i)\b(Sun|Mon|Tues?|Wed(?:nes)?|Thur?s?|Fri` +
		`|Sat(?:ur)?)(?:day)?\.?,?\s+\(?(20\d\d)-(\d\d)-(\d\d)\b`)
)

// wrongDay are dates that do not fall on the day of the week they bear.
func wrongDay(s *sight) []finding {
	for _, f := range append(s.documents(), s.own(project.Data)...) {
		for n, line := range project.Lines(f.Text) {
			var y, mo, d int
			name := ""
			if m := dayDate.FindStringSubmatch(line); m != nil {
				name, d, y = m[1], atoi(m[2]), atoi(m[4])
				mo = slices.IndexFunc(months, func(x string) bool { return strings.HasPrefix(x, strings.ToLower(m[3])[:3]) }) + 1
			} else if m := dayISO.FindStringSubmatch(line); m != nil {
				name, y, mo, d = m[1], atoi(m[2]), atoi(m[3]), atoi(m[4])
			} else {
				continue
			}
			day := time.Date(y, time.Month(mo), d, 0, 0, 0, 0, time.UTC)
			if mo < 1 || mo > 12 || day.Day() != d || strings.HasPrefix(weekdays[day.Weekday()], strings.ToLower(name)[:3]) {
				continue
			}
			return []finding{found(day.Format("2 January 2006"), "%s: the %s is a %s.", at(f, n),
				day.Format("2 January 2006"), day.Weekday()).
				then("Find out which of the two was meant, and correct "+at(f, n).place()+".", costMinutes,
					"people who come on another day").
				weighs(contradicted+4, "date plan day calendar")}
		}
	}
	return nil
}
