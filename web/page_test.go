package web

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPageModules tries what of the page needs no browser: foreign text, Markdown,
// changes of files, the sums of the virtual list. The tests are beside the modules
// in a directory of their own, where Node takes them for modules.
func TestPageModules(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here: script/prepare.sh brings it")
	}
	dir := t.TempDir()
	for _, from := range []string{"page", "testdata/page"} {
		if err := os.CopyFS(dir, onlyScripts{os.DirFS(from)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob(filepath.Join(dir, "*.test.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatalf("no tests in testdata/page: %v", err)
	}
	cmd := exec.Command(node, append([]string{"--test"}, tests...)...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// onlyScripts are the scripts of a directory.
type onlyScripts struct{ fs.FS }

func (o onlyScripts) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(o.FS, name)
	var kept []fs.DirEntry
	for _, e := range list {
		if ext := filepath.Ext(e.Name()); ext == ".js" || ext == ".mjs" {
			kept = append(kept, e)
		}
	}
	return kept, err
}

var (
	imported = regexp.MustCompile(`(?m)(?:from|import) '(\./[^']+)'`)
	loaded   = regexp.MustCompile(`(?:src|href)="/page/([^"{]+)"`)
	// unsafe is what makes code or markup of text, or looks at what it must not.
	unsafe = regexp.MustCompile(`\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|eval\(|new Function|` +
		`localStorage\.setItem\('conclave-token|document\.cookie|setHTML|new Worker|SharedWorker|srcdoc =)`)
	elsewhere = regexp.MustCompile(`https?://[\w.-]+`)
)

// TestPageIsWhole: every file that the page loads is there, every one that is there
// is loaded, and no script makes markup of text or names another server.
func TestPageIsWhole(t *testing.T) {
	shell, err := os.ReadFile("page/" + shellFile)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]bool{shellFile: true}
	for _, m := range loaded.FindAllStringSubmatch(string(shell), -1) {
		wanted[m[1]] = true
	}
	files, err := os.ReadDir("page")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files in page: %v", len(files), err)
	}
	for _, f := range files {
		text, err := os.ReadFile("page/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range imported.FindAllStringSubmatch(string(text), -1) {
			wanted[strings.TrimPrefix(m[1], "./")] = true
		}
		checkScript(t, f.Name(), string(text))
	}
	for _, f := range files {
		if !wanted[f.Name()] {
			t.Errorf("page/%s: nothing loads it", f.Name())
		}
		delete(wanted, f.Name())
	}
	for name := range wanted {
		t.Errorf("page/%s is loaded, and is not there", name)
	}
}

func checkScript(t *testing.T, name, text string) {
	for i, line := range strings.Split(text, "\n") {
		if m := unsafe.FindString(line); m != "" && !strings.HasPrefix(strings.TrimSpace(line), "//") {
			t.Errorf("page/%s:%d: %s: text becomes nodes by h alone", name, i+1, m)
		}
		for _, m := range elsewhere.FindAllString(line, -1) {
			if m != "http://www.w3.org" {
				t.Errorf("page/%s:%d: %s: the page names no other server", name, i+1, m)
			}
		}
	}
}
