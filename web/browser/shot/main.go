// Command shot takes a picture of a page of a running `conclave web`:
//
//	go run ./shot -link 'http://127.0.0.1:7777/#enter=…' -path /runs -size 390x844 -dark -out runs.png
//
// The link is one that `conclave web --no-open` prints, which works once; without
// one it asks a second `conclave web` in the directory of -in for another. It also
// prints what the browser complained of.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"conclave/web/browser"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
}

func run() error {
	link := flag.String("link", "", "a one-time link of the server")
	program := flag.String("program", "conclave", "the program, to ask for a link")
	in := flag.String("in", ".", "the workspace, to ask for a link")
	path := flag.String("path", "/", "the page, with its query; several with commas, then -out has a %d")
	size := flag.String("size", "1280x800", "of the window")
	dark := flag.Bool("dark", false, "for those who prefer dark")
	scale := flag.Float64("scale", 1, "device pixels per pixel")
	wait := flag.String("wait", "", "an expression to wait for before the picture")
	do := flag.String("do", "", "an expression to work out before the picture, e.g. document.querySelector('…').click()")
	keys := flag.String("keys", "", "keys to press before the picture, with blanks: Control+k j Enter")
	out := flag.String("out", "shot.png", "where the picture goes")
	flag.Parse()

	look := browser.Look{Dark: *dark, Scale: *scale}
	if _, err := fmt.Sscanf(*size, "%dx%d", &look.Width, &look.Height); err != nil {
		return fmt.Errorf("-size %s is not like 390x844", *size)
	}
	look.Mobile = look.Width < 600
	if *link == "" {
		got, err := browser.AskLink(*program, *in)
		if err != nil {
			return err
		}
		*link = got
	}
	b, err := browser.Start(browser.Options{})
	if err != nil {
		return err
	}
	defer b.Close()
	t, err := b.Open(false)
	if err != nil {
		return err
	}
	if err := t.See(look); err != nil {
		return err
	}
	if err := t.Go(*link); err != nil {
		return err
	}
	origin := (*link)[:strings.Index(*link, "/#")]
	if err := t.Ready(); err != nil {
		fmt.Fprintln(os.Stderr, "shot: the page is not ready:", err)
	}
	for i, path := range strings.Split(*path, ",") {
		to := strings.ReplaceAll(*out, "%d", fmt.Sprint(i))
		if err := take(t, origin+path, *wait, *do, strings.Fields(*keys), to); err != nil {
			return err
		}
		for _, f := range t.Faults(origin) {
			fmt.Println(path+":", f)
		}
	}
	return nil
}

func take(t *browser.Tab, address, wait, do string, keys []string, out string) error {
	if err := t.Go(address); err != nil {
		return err
	}
	if err := t.Ready(); err != nil {
		fmt.Fprintln(os.Stderr, "shot: the page is not ready:", err)
	}
	if wait != "" {
		if err := t.Wait(wait); err != nil {
			return err
		}
	}
	if do != "" {
		if _, err := browser.Eval[any](t, do); err != nil {
			return err
		}
	}
	if err := t.Key(keys...); err != nil {
		return err
	}
	picture, err := t.Shot()
	if err != nil {
		return err
	}
	return os.WriteFile(out, picture, 0o644)
}
