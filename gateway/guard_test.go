package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// through passes a text through a guard in pieces, and returns what came out
// and whether the key was found.
func through(g *guard, text []byte, piece func(most int) int) (out []byte, found bool) {
	for rest := text; ; {
		n := 0
		if len(rest) > 0 {
			n = piece(min(len(rest), len(g.room())))
		}
		copy(g.room(), rest[:n])
		rest = rest[n:]
		var got []byte
		got, found = g.next(n, len(rest) == 0)
		if out = append(out, got...); found || len(rest) == 0 {
			return out, found
		}
		g.keep()
	}
}

// However a stream is cut, all of it passes in order if it does not hold the
// key, and all before the key (short of guardHold bytes of it) if it does.
func TestGuard(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Few letters, so that beginnings of the key are everywhere.
		word := rapid.StringMatching(`[ab]{8,12}`)
		key := []byte(word.Draw(t, "key"))
		text := []byte(rapid.StringMatching(`[ab"{}:,\[\]\\%u0\n]{0,80}`).Draw(t, "text"))
		plain := !newNeedles(string(key)).in(text)
		if rapid.Bool().Draw(t, "with key") {
			text = append(append(text, key...), "bbb"...)
		}
		out, found := through(newGuard(newNeedles(string(key)), 40, rapid.Bool().Draw(t, "sse")), text, func(most int) int {
			return rapid.IntRange(1, most).Draw(t, "n")
		})
		at := bytes.Index(text, key)
		switch {
		case !bytes.HasPrefix(text, out):
			t.Fatalf("passed %q", out)
		case !found && !bytes.Equal(out, text):
			t.Fatalf("passed %q and found nothing", out)
		case at >= 0 && (!found || len(out) >= at+guardHold):
			t.Fatalf("found %v, passed %q, the key is at %d", found, out, at)
		case at >= 0 && plain && len(out) < at-len(key):
			t.Fatalf("passed only %q, the key is at %d", out, at)
		}
	})
}

const testKey = "sk-ant-api03-Zq0/Wk3_x9+LmN"

// told are the ways in which a server may repeat a key (W20).
var told = map[string]func(key string) string{
	"as it is":        func(key string) string { return key },
	"one escape":      func(key string) string { return strings.Replace(key, "0", `\u0030`, 1) },
	"every escape":    func(key string) string { return escapes(key, `\u%04x`) },
	"large escapes":   func(key string) string { return escapes(key, `\u%04X`) },
	"JSON in JSON":    func(key string) string { return escapes(key, `\\u%04x`) },
	"JSON thrice":     func(key string) string { return escapes(key, `\\\\u%04x`) },
	"escaped slash":   func(key string) string { return strings.ReplaceAll(key, "/", `\/`) },
	"address":         url.QueryEscape,
	"every percent":   func(key string) string { return escapes(key, "%%%02x") },
	"large percents":  func(key string) string { return escapes(key, "%%%02X") },
	"address twice":   func(key string) string { return url.QueryEscape(escapes(key, "%%%02x")) },
	"percent escaped": func(key string) string { return escapes(key, `\u0025%02x`) },
	"base64":          func(key string) string { return base64.StdEncoding.EncodeToString([]byte(key)) },
	"base64, raw":     func(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) },
	"base64, bearer":  func(key string) string { return base64.StdEncoding.EncodeToString([]byte("Bearer " + key + "!")) },
	"base64, user":    func(key string) string { return base64.URLEncoding.EncodeToString([]byte("me:" + key + "\n")) },
	"base64 in lines": func(key string) string {
		return inLines(base64.StdEncoding.EncodeToString([]byte("x-api-key: " + key)))
	},
	"base64 in an URL": func(key string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(key))) },
	"hexadecimal":      func(key string) string { return hex.EncodeToString([]byte(key)) },
	"hex, large":       func(key string) string { return strings.ToUpper(hex.EncodeToString([]byte(key))) },
}

func escapes(key, format string) string {
	var b strings.Builder
	for i := range len(key) {
		fmt.Fprintf(&b, format, key[i])
	}
	return b.String()
}

func inLines(s string) string {
	var b strings.Builder
	for len(s) > 20 {
		b.WriteString(s[:20] + `\n`)
		s = s[20:]
	}
	return b.String() + s
}

// frames are where a key may stand: bare, in a body, in one event, and in
// events that tell it piece by piece, in the words of each API.
var frames = map[string]func(key string, size int) string{
	"bare": func(key string, _ int) string { return key },
	"body": func(key string, _ int) string { return `{"content":[{"type":"text","text":"it is ` + key + `!"}]}` },
	"event": func(key string, _ int) string {
		return "event: content_block_delta\ndata: {\"delta\":{\"text\":\"" + key + "\"}}\n\n"
	},
	"events": func(key string, size int) string {
		return inEvents(key, size, "event: content_block_delta\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n: ping\n\n")
	},
	"arguments": func(key string, size int) string {
		return inEvents(key, size, "data: {\"type\":\"response.function_call_arguments.delta\",\"item_id\":\"fc_\\\"1\",\"n\":[1,{\"a\":\"b\"}],\"delta\":\"%s\",\"obfuscation\":\"xyz\"}\n\n")
	},
	"choices": func(key string, size int) string {
		return inEvents(key, size, "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"},\"i\":0}]}\n\n")
	},
	"calls": func(key string, size int) string {
		return inEvents(key, size, "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"%s\"}}]},\"finish_reason\":null}],\"usage\":null}\n\n")
	},
	"candidates": func(key string, size int) string {
		return inEvents(key, size, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"%s\"}],\"role\":\"model\"},\"index\":0}],\"usageMetadata\":{\"promptTokenCount\":9},\"modelVersion\":\"g\"}\r\n\r\n")
	},
}

// inEvents cuts between letters and not within an escape, as a server does.
func inEvents(key string, size int, format string) string {
	var b strings.Builder
	for len(key) > 0 {
		n := 0
		for n < len(key) && (n < size || strings.Contains(key[max(0, n-6):n], `\`)) {
			n++
		}
		fmt.Fprintf(&b, format, key[:n])
		key = key[n:]
	}
	return b.String()
}

// W20: in every form, in every frame, wherever the network cuts it, the key is
// found, and what has passed holds no more of it than guardHold bytes.
func TestGuardKnowsEveryForm(t *testing.T) {
	n := newNeedles(testKey)
	for how, encode := range told {
		for where, frame := range frames {
			for _, size := range []int{1, 3, 7} {
				const before, after = "data: {\"delta\":{\"text\":\"Hello \\u00e9\"}}\n\n", "\n\ndata: [DONE]\n\n"
				text := before + frame(encode(testKey), size) + after
				for _, cut := range []int{1, 5, 64, 1 << 20} {
					out, found := through(newGuard(n, 256, true), []byte(text), func(most int) int { return min(cut, most) })
					if !found {
						t.Errorf("%s, %s in %d, cut at %d: not found in %q", how, where, size, cut, text)
						continue
					}
					if !strings.HasPrefix(string(out), before) {
						t.Errorf("%s, %s: only %q passed", how, where, out)
					}
					if tail := string(out[len(before):]); len(tail) >= len(text)-len(before)-len(after)-2 {
						t.Errorf("%s, %s: %q passed", how, where, tail)
					}
				}
			}
		}
	}
}

// What is like a key and is none passes whole.
func TestGuardLetsTheLikePass(t *testing.T) {
	n := newNeedles(testKey)
	for _, like := range []string{
		"sk-ant-api03-", testKey[:len(testKey)-1], strings.ToUpper(testKey), testKey[1:], `\u0073k-ant-api03-Zq\u0031`, "%73%6b%2d", "%", `\`, `\u00`,
		base64.StdEncoding.EncodeToString([]byte(testKey[:18])), strings.Repeat("sk-ant-", 9),
	} {
		for where, frame := range frames {
			text := frame(like, 3) + "data: {\"delta\":{\"other\":\"x\"}}\n\n"
			for _, cut := range []int{1, 64} {
				if out, found := through(newGuard(n, 64, true), []byte(text), func(most int) int { return min(cut, most) }); found || string(out) != text {
					t.Errorf("%q, %s: found %v, passed %q", like, where, found, out)
				}
			}
		}
	}
}

// A text that ends like the beginning of a key does not hold up the others for
// long.
func TestGuardForgets(t *testing.T) {
	g := newGuard(newNeedles(testKey), 64<<10, true)
	passed := 0
	feed := func(s string) int {
		copy(g.room(), s)
		out, _ := g.next(len(s), false)
		n := len(out)
		g.keep()
		return n
	}
	first := "data: {\"delta\":{\"text\":\"keys begin with sk-ant-api03-\"}}\n\n"
	if passed = feed(first); passed == len(first) {
		t.Fatal("nothing waits")
	}
	total := len(first)
	for range 200 {
		s := "data: {\"delta\":{\"partial_json\":\"" + strings.Repeat("x", 100) + "\"}}\n\n"
		total += len(s)
		passed += feed(s)
	}
	if passed != total {
		t.Errorf("%d of %d bytes passed", passed, total)
	}
}

func TestNeedlesAreContains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.StringMatching(`[ab0Q]{8,10}`).Draw(t, "key")
		n := newNeedles(key)
		text := rapid.StringMatching(`[ab0Q]{0,80}`).Draw(t, "text")
		if rapid.Bool().Draw(t, "with") {
			text += key
		}
		found, at := false, int32(0)
		for i := range len(text) {
			at = n.step(at, text[i])
			found = found || n.nodes[at].whole
		}
		want := false
		for _, f := range n.forms {
			want = want || strings.Contains(text, string(f))
		}
		if found != want || n.in([]byte(text)) != want {
			t.Fatalf("found %v, want %v", found, want)
		}
	})
}

// What cannot be the key's beginning never waits.
func TestGuardHoldsNothingElse(t *testing.T) {
	g := newGuard(newNeedles("sk-ant-0123456789"), 100, true)
	for _, p := range []string{"yes", "s", "sk-", "data: x\n\n", "sk-anx", `{"text":"`, `\u00`, "%7", `"}`} {
		copy(g.room(), p)
		if piece, found := g.next(len(p), false); found || string(piece) != p {
			t.Errorf("%q came out as %q", p, piece)
		}
		g.keep()
	}
}

// Whatever comes, what passes is a beginning of it, and all of it if the key is
// not there.
func FuzzGuard(f *testing.F) {
	for _, frame := range frames {
		f.Add([]byte(frame(testKey, 3)), 7)
		f.Add([]byte(frame(`sk-\u0061nt`, 3)), 2)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		if cut < 1 {
			return
		}
		out, found := through(newGuard(newNeedles(testKey), 32, true), text, func(most int) int { return min(cut, most) })
		if !bytes.HasPrefix(text, out) || !found && len(out) != len(text) {
			t.Fatalf("%q came out as %q", text, out)
		}
		if bytes.Contains(out, []byte(testKey)) {
			t.Fatal("the key passed")
		}
		var v struct{ Text string }
		if json.Unmarshal(out, &v) == nil && strings.Contains(v.Text, testKey) {
			t.Fatal("the key passed in escapes")
		}
	})
}

func BenchmarkGuard(b *testing.B) {
	n := newNeedles(testKey)
	for name, line := range map[string]string{
		"events": "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"" + strings.Repeat("words ", 600) + "\"}}\n\n",
		"short":  "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"words \"}}\n\n",
		"plain":  strings.Repeat("zażółć ", 600),
	} {
		text := []byte(strings.Repeat(line, 1<<20/len(line)))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				through(newGuard(n, 64<<10, true), text, func(most int) int { return most })
			}
		})
	}
}
