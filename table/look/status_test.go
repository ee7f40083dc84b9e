package look

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"conclave/internal/lockfile"
	"conclave/table/people"
	"conclave/table/story"
	"conclave/table/told"
)

// TestFrom: what is another seat's is told to nobody but it and the game master. Each
// field is somebody's: one that is added has to be put into one of the lists.
func TestFrom(t *testing.T) {
	forAll := []string{"Campaign", "Session", "InSession", "Cycle", "Scene", "Characters", "Open", "Saves", "Rolls", "Holder"}
	forSome := []string{"Awaited", "Journals", "Drafts", "Problems", "Told"}
	st := Status{
		Campaign: "weir", Session: 1, InSession: true, Cycle: 2, Scene: &story.Scene{Title: "a scene"},
		Characters: []Character{{Slug: "bram", Name: "Bram"}}, Open: []string{"i1"},
		Awaited:  &people.Awaited{Seats: []string{"wren-secret"}, Privately: true},
		Journals: []string{"journal-secret"}, Drafts: []string{"wren-secret", "bram"},
		Saves: []story.Save{{}}, Rolls: 3, Holder: &lockfile.Holder{},
		Problems: []string{"problem-secret"}, Told: []told.Thing{{}},
	}
	all := reflect.ValueOf(st)
	for _, field := range reflect.VisibleFields(all.Type()) {
		if all.FieldByIndex(field.Index).IsZero() {
			t.Errorf("%s is not in this test", field.Name)
		}
		if slices.Contains(forAll, field.Name) == slices.Contains(forSome, field.Name) {
			t.Errorf("whose is %s?", field.Name)
		}
	}
	if got := st.From("gm"); !reflect.DeepEqual(got, st) {
		t.Errorf("the game master sees %+v", got)
	}
	for _, seat := range []string{"table", "bram"} {
		got := st.From(seat)
		for _, name := range forAll {
			if a, b := all.FieldByName(name).Interface(), reflect.ValueOf(got).FieldByName(name).Interface(); !reflect.DeepEqual(a, b) {
				t.Errorf("%s sees %v of %s", seat, b, name)
			}
		}
		data, err := json.Marshal(got)
		if err != nil || strings.Contains(string(data), "secret") || got.Told != nil || got.Awaited == nil {
			t.Errorf("%s sees %s, %v", seat, data, err)
		}
	}
	if got := st.From("bram").Drafts; !slices.Equal(got, []string{"bram"}) || len(st.Drafts) != 2 || len(st.Awaited.Seats) != 1 {
		t.Errorf("of drafts %v, and %+v was changed", got, st)
	}
}
