package profile

import (
	"strings"
	"testing"
)

// wearing is a party in a built-in pack.
func wearing(t *testing.T, name string) Party {
	t.Helper()
	pack, err := Library{}.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	party := Party{}
	for _, p := range pack.Profiles {
		party[p.Archetype] = p
	}
	return party
}

func TestFind(t *testing.T) {
	for _, c := range []struct{ pack, said, want string }{
		{"fantasy", "cat", "cat"}, {"fantasy", "Cat", "cat"}, {"fantasy", "rogue", "cat"}, {"fantasy", "The Rogue", "cat"},
		{"fantasy", " the  rogue ", "cat"}, {"fantasy", "the-rogue", "cat"}, {"fantasy", "The Rogue (Cat)", "cat"},
		{"fantasy", "wyrm", "dragon"}, {"fantasy", "ancient wyrm", "dragon"}, {"fantasy", "ARCHMAGE", "gandalf"},
		{"fantasy", "simon", "simon"}, {"fantasy", "The Cat", "cat"}, {"fantasy", "", ""}, {"fantasy", "the", ""},
		{"hundred-acre-wood", "owl", "owl"}, {"hundred-acre-wood", "eeyore", "cat"},
		{"hundred-acre-wood", "robin", "gandalf"},
		{"family-parenting", "aunt betty", "dragon"}, {"family-parenting", "co-parent", "rabbit"},
		{"family-parenting", "coparent", "rabbit"}, {"family-parenting", "kid", "puppy"},
		{"neutral", "captain", "wolf"}, {"neutral", "lynx", ""},
	} {
		a, err := wearing(t, c.pack).Find(c.said)
		if (err == nil) != (c.want != "") || a.ID != c.want {
			t.Errorf("%s: %q is %q (%v), want %q", c.pack, c.said, a.ID, err, c.want)
		}
	}
	if a, err := (Party{}).Find("the cat"); err != nil || a.ID != "cat" {
		t.Errorf("the cat, undressed: %v %v", a.ID, err)
	}
}

// TestFindSaysWhoThereIs: a name that is nobody's, or two people's, is answered
// with the names that would be understood.
func TestFindSaysWhoThereIs(t *testing.T) {
	_, err := wearing(t, "fantasy").Find("lynx")
	if err == nil || !strings.Contains(err.Error(), "bear (The Paladin), cat (The Rogue)") ||
		!strings.Contains(err.Error(), "simon") {
		t.Error(err)
	}
	party := wearing(t, "neutral")
	party["bear"] = &Profile{Archetype: "bear", SkinName: "The Old Sailor"}
	party["cat"] = &Profile{Archetype: "cat", SkinName: "The Young Sailor"}
	_, err = party.Find("sailor")
	if err == nil || !strings.Contains(err.Error(), "bear (The Old Sailor) or cat (The Young Sailor)") {
		t.Error(err)
	}
	// What a file is called stays what it is called.
	party["cat"] = &Profile{Archetype: "cat", SkinName: "The Bear"}
	if a, err := party.Find("bear"); err != nil || a.ID != "bear" {
		t.Errorf("bear is %q (%v)", a.ID, err)
	}
	if a, err := party.Find("the bear"); err != nil || a.ID != "cat" {
		t.Errorf("the bear is %q (%v)", a.ID, err)
	}
}

func TestCalled(t *testing.T) {
	dressed := wearing(t, "fantasy")
	for id, want := range map[string][2]string{
		"cat": {"the Cat", "The Rogue"}, "gandalf": {"Gandalf", "The Archmage"}, "simon": {"Simon", "Simon"},
		"dragon": {"the Dragon", "The Ancient Wyrm"},
	} {
		bare, _ := Party{}.Face(id)
		worn, _ := dressed.Face(id)
		if got := [2]string{bare.Called(), worn.Called()}; got != want {
			t.Errorf("%s is called %q, want %q", id, got, want)
		}
	}
}
