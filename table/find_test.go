package table

import (
	"strings"
	"testing"
)

// T7: people say first names. What is not clear is refused, with who there is.
func TestFind(t *testing.T) {
	r := Roster{Characters: []Character{
		{Slug: "bram-oatley", Name: "Bram Oatley"}, {Slug: "corin-vale", Name: "Corin Vale"},
		{Slug: "corin-weir", Name: "Corin Weir"}, {Slug: "obrien", Name: "O'Brien"}, {Slug: "vale", Name: "The Vale"},
	}}
	for called, want := range map[string]string{
		"bram-oatley": "bram-oatley", "Bram Oatley": "bram-oatley", " bram ": "bram-oatley", "OATLEY": "bram-oatley",
		"corin-vale": "corin-vale", "weir": "corin-weir", "o'brien": "obrien", "vale": "vale",
	} {
		if c, err := r.Find(called); err != nil || c.Slug != want {
			t.Errorf("%q is %q, %v", called, c.Slug, err)
		}
	}
	for called, want := range map[string]string{
		"corin": `"corin" may be corin-vale or corin-weir`, "brm": `"brm" is no character here`,
		"": "is no character here", "../../bram-oatley": "is no character here", "bram-": "did you mean bram-oatley?",
	} {
		if c, err := r.Find(called); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is %q, %v", called, c.Slug, err)
		}
	}
}
