package offline

import (
	"slices"
	"strings"

	"conclave/internal/pattern"
	"conclave/internal/project"
)

var licenceTexts = []struct{ id, words string }{
	{"Apache-2.0", "apache license version 2.0"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"AGPL-3.0", "gnu affero general public license version 3"},
	{"LGPL-2.0", "gnu library general public license"},
	{"LGPL-3.0", "gnu lesser general public license version 3"},
	{"LGPL-2.1", "gnu lesser general public license version 2.1"},
	{"GPL-3.0", "gnu general public license version 3"},
	{"GPL-2.0", "gnu general public license version 2"},
	{"EPL", "eclipse public license"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"BSD", "redistribution and use in source and binary forms"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy"},
}

// licenceOf recognises a text by its words; "" for none, for several, and for one
// that leaves a choice.
func licenceOf(text string) string {
	flat := strings.Join(strings.Fields(strings.ToLower(strings.ReplaceAll(text, ",", " "))), " ")
	if strings.Contains(flat, "dual-licensed") || strings.Contains(flat, "dual licensed") ||
		strings.Contains(flat, "under either") {
		return ""
	}
	id := ""
	for _, l := range licenceTexts {
		i := strings.Index(flat, strings.ReplaceAll(l.words, ",", ""))
		if i < 0 || l.id == "LGPL-2.0" && i > 200 { // the GPL's own text speaks of it at its end
			continue
		}
		if id != "" && !strings.Contains(id, "GPL") && l.id != "BSD" {
			return ""
		}
		if id == "" {
			id = l.id
		}
	}
	return id
}

var licenceNames = pattern.New(`(?i)^(?:the )?(mit|apache(?:[- ](?:license,?)?(?: version)?[- ]?2(?:\.0)?)?` +
	`|bsd(?:[- ][\w-]+)*|isc|mpl[- ]?2(?:\.0)?|a?gpl[- ]?v?[23](?:\.0)?(?:[- ]only|[- ]or[- ]later|\+)?|lgpl[- ` +
	`]?v?[23](?:\.[01])?(?:[- ]only|[- ]or[- ]later|\+)?|unlicense|epl-2\.0)(?: licen[sc]e)?$`)

// family reduces a licence's name to what its text can be told by.
func family(name string) string {
	n := strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "", "V", "").Replace(name))
	for _, p := range [][2]string{{"APACHE", "APACHE"}, {"MIT", "MIT"}, {"BSD", "BSD"}, {"ISC", "ISC"}, {"MPL", "MPL"},
		{"AGPL", "AGPL"}, {"LGPL", "LGPL"}, {"GPL", "GPL"}, {"UNLICENSE", "UNLICENSE"}, {"EPL", "EPL"}} {
		if strings.HasPrefix(n, p[0]) || strings.HasPrefix(n, "THE"+p[0]) {
			return p[1]
		}
	}
	return ""
}

// otherLicence: the manifest names a licence, and the text beside it is another
// one.
func otherLicence(s *sight) []finding {
	for _, m := range s.Manifests() {
		if !licenceNames.MatchString(strings.TrimSpace(m.Licence.Text)) || !citable(m.File.Path) {
			continue
		}
		var texts []*project.File
		for _, f := range s.Of(project.Licence) {
			base := strings.ToUpper(f.Base)
			if f.Dir == m.File.Dir && f.Read && (strings.HasPrefix(base, "LICEN") || strings.HasPrefix(base, "COPYING")) {
				texts = append(texts, f)
			}
		}
		if len(texts) == 0 || !citable(texts[0].Path) {
			continue
		}
		have, want := licenceOf(texts[0].Text), family(strings.TrimSpace(m.Licence.Text))
		if have == "" || want == "" || slices.ContainsFunc(texts, func(f *project.File) bool {
			x := licenceOf(f.Text)
			return x == "" || family(x) == want
		}) {
			continue
		}
		if len(texts) > 1 {
			have += ", and none of the " + number(len(texts)) + " licence texts beside it is that of " +
				strings.TrimSpace(m.Licence.Text)
		}
		line := lineWhere(texts[0].Text, func(l string) bool { return quote(l) != "" })
		return []finding{found("the licence", "The manifest says %s, %s; the text in %s is that of %s.",
			strings.TrimSpace(m.Licence.Text), at(m.File, m.Licence.Line), at(texts[0], line.line), have).
			then("Ask who decides which of the two holds, and correct the other.", costHour,
				"somebody who relies on the wrong one").
			weighs(contradicted+9, "licence license legal")}
	}
	return nil
}
