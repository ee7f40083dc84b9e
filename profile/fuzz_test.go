package profile

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"strings"
	"testing"
)

// FuzzProfile: a profile that can be read is the same bytes; a new name that is
// accepted is read back and every other key stays; nothing that is accepted as a
// skin name can leave a directory, break a line or end a speaker tag.
func FuzzProfile(f *testing.F) {
	seeds := 0
	err := fs.WalkDir(embedded, "packs", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := embedded.ReadFile(name)
		f.Add(data, "The Auditor", "🦈")
		f.Add(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), "x: y", "")
		seeds++
		return err
	})
	if err != nil || seeds < 27 {
		f.Fatalf("%d seeds: %v", seeds, err)
	}
	f.Add([]byte("---\nanimal: cat\nprofile-name: |\n  x\n---\n## Name\n"), "a", "b")
	f.Fuzz(func(t *testing.T, data []byte, skin, emoji string) {
		p, faults := Parse("cat.md", data)
		if p == nil {
			if len(faults) == 0 {
				t.Fatal("refused without a fault")
			}
			return
		}
		if !bytes.Equal(p.Bytes(), data) {
			t.Fatal("Bytes differs from what was read")
		}
		if len(faults) == 0 {
			checkSafe(t, p)
		}
		edited, err := p.Rename(skin, emoji)
		if err != nil {
			return
		}
		q, _ := Parse("cat.md", edited)
		if q == nil || skin != "" && q.SkinName != skin || emoji != "" && q.Emoji != emoji {
			t.Fatalf("renamed to %q %q, read %+v", skin, emoji, q)
		}
		if q.Archetype != p.Archetype || q.Theme != p.Theme || q.Concept != p.Concept || q.Voice != p.Voice || q.Depth != p.Depth {
			t.Fatalf("renaming changed %+v to %+v", p, q)
		}
		for _, was := range p.doc.Fields() {
			if now, ok := q.doc.Field(was.Key); !ok || now.Value != was.Value && was.Key != "skin-name" && was.Key != "profile-name" && was.Key != "emoji" {
				t.Fatalf("renaming changed %+v to %+v", was, now)
			}
		}
	})
}

func checkSafe(t *testing.T, p *Profile) {
	face := p.Face()
	if part := face.FilePart(); strings.ContainsAny(part, "/\\:*?\"<>|()\x00\n\r ") || strings.HasPrefix(part, ".") || part == "" || len(part) > 200 {
		t.Fatalf("file part %q", part)
	}
	if tag := face.Tag(); strings.Count(tag, "**") != 2 || strings.Count(tag, ":") != 1 || strings.ContainsAny(tag, "\n\r\u2028\u2029\u0085") {
		t.Fatalf("speaker tag %q", tag)
	}
}

// FuzzArchive: no archive makes the reader panic or hold more than the limits.
func FuzzArchive(f *testing.F) {
	small := map[string]string{"cat.md": "x"} // large seeds make the fuzzer minimise for minutes
	f.Add(zipOf("", "", 0)(small), true)
	f.Add(zipOf("../x", "y", 0)(small), true)
	f.Add(tarOf(tar.Header{Typeflag: tar.TypeSymlink, Name: "x", Linkname: "/y"})(small), false)
	f.Fuzz(func(t *testing.T, data []byte, zipped bool) {
		name := "x.tar.gz"
		if zipped {
			name = "x.zip"
		}
		files := readArchive(name, data)
		total := 0
		for name, text := range files.data {
			total += len(text)
			if strings.ContainsAny(name, "/\\") {
				t.Fatalf("file name %q", name)
			}
		}
		if total > maxUnpacked {
			t.Fatalf("%d bytes were unpacked", total)
		}
	})
}
