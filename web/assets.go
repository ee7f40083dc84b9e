package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
)

//go:embed page
var pageFiles embed.FS

// shellFile is the page without anything in it: every path of the page is it.
const shellFile = "index.html"

// types are the files that a page is made of.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".png": "image/png", ".ico": "image/vnd.microsoft.icon", ".json": "application/json",
	".webmanifest": "application/manifest+json",
}

// asset is a file as it is sent.
type asset struct {
	kind         string
	data, packed []byte
	tag          string
}

func newAsset(name string, data []byte) (*asset, error) {
	kind, ok := types[path.Ext(name)]
	if !ok {
		return nil, fmt.Errorf("page/%s: of which type is that?", name)
	}
	sum := sha256.Sum256(data)
	return &asset{kind, data, squeeze(data, gzip.BestCompression), `"` + hex.EncodeToString(sum[:12]) + `"`}, nil
}

// assets are the files under /page/, and the shell everywhere else.
type assets struct {
	files map[string]*asset
	shell *asset
}

func newAssets(version string, readOnly bool) (*assets, error) {
	a := &assets{files: map[string]*asset{}}
	list, err := fs.ReadDir(pageFiles, "page")
	if err != nil {
		return nil, err
	}
	var modules []string
	for _, f := range list {
		data, err := pageFiles.ReadFile("page/" + f.Name())
		if err != nil {
			return nil, err
		}
		if f.Name() == shellFile {
			continue
		}
		if a.files[f.Name()], err = newAsset(f.Name(), data); err != nil {
			return nil, err
		}
		if path.Ext(f.Name()) == ".js" {
			modules = append(modules, f.Name())
		}
	}
	t, err := template.ParseFS(pageFiles, "page/"+shellFile)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, struct {
		Version  string
		ReadOnly bool
		Modules  []string // to be loaded before they are asked for
	}{version, readOnly, modules})
	if err != nil {
		return nil, err
	}
	a.shell, err = newAsset(shellFile, out.Bytes())
	return a, err
}

func (a *assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, r, &problem{http.StatusMethodNotAllowed, "usage", "that is asked for with GET"})
		return
	}
	name, isFile := strings.CutPrefix(r.URL.Path, "/page/")
	switch f := a.files[name]; {
	case isFile && f != nil:
		f.serve(w, r)
	case isFile || r.URL.Path == "/favicon.ico" || r.URL.Path == "/robots.txt":
		fail(w, r, missing("there is no %s", r.URL.Path))
	default:
		a.shell.serve(w, r)
	}
}

// serve sends a file unless the reader has it. It is asked for every time: the
// next start may have another one.
func (f *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("Etag", f.tag)
	h.Set("Vary", "Accept-Encoding")
	known := strings.Split(r.Header.Get("If-None-Match"), ",")
	if slices.ContainsFunc(known, func(t string) bool { return strings.TrimPrefix(strings.TrimSpace(t), "W/") == f.tag }) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	data := f.data
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") && len(f.packed) < len(data) {
		h.Set("Content-Encoding", "gzip")
		data = f.packed
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", fmt.Sprint(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data) // who has gone is not told
	}
}
