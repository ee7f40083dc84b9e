package table

import (
	"strings"
	"testing"
)

func benchCampaign(b *testing.B) *Campaign {
	b.Helper()
	ws := b.TempDir()
	dir, err := OpenDir(ws)
	if err != nil {
		b.Fatal(err)
	}
	defer dir.Close()
	base, err := dir.MakeSub("campaigns")
	if err != nil {
		b.Fatal(err)
	}
	root, err := base.MakeSub("ash")
	if err != nil {
		b.Fatal(err)
	}
	party, err := root.MakeSub("party")
	if err != nil {
		b.Fatal(err)
	}
	if err := party.Write("tilda-brannock.md", []byte("# Tilda Brannock\n"+strings.Repeat("A line.\n", 500))); err != nil {
		b.Fatal(err)
	}
	c, err := OpenCampaign(ws, "ash")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close(); party.Close(); root.Close(); base.Close() })
	return c
}

func BenchmarkWrite(b *testing.B) {
	c := benchCampaign(b)
	for b.Loop() {
		if err := c.Tmp.Write(NarrativeFile, []byte(goodPrompt)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPlayerContext(b *testing.B) {
	c := benchCampaign(b)
	for b.Loop() {
		if _, err := c.PlayerContext("tilda-brannock", []byte(goodPrompt), ContextOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
