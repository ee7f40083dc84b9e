package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/gateway"
	"conclave/record"
)

// onDisk is a gateway that writes to a real record.
func onDisk(b *testing.B, upstream http.HandlerFunc) (d *door, direct string) {
	b.Helper()
	up := httptest.NewServer(upstream)
	b.Cleanup(up.Close)
	w, err := record.Create(filepath.Join(b.TempDir(), "bench.rec"), record.Header{Run: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	return openAt(b, gateway.Options{Upstream: gateway.Upstream{BaseURL: up.URL}, Blobs: w}), up.URL
}

// BenchmarkFirstByte asks directly and through the gateway in turns, with the
// request of a long conversation, and reports what the gateway adds.
func BenchmarkFirstByte(b *testing.B) {
	d, direct := onDisk(b, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		play("data: {}\n\n")(w, r)
	})
	turn := `{"role":"user","content":[{"type":"text","text":"` + strings.Repeat("words and words ", 60) + `"}]}`
	body := `{"model":"m","messages":[` + strings.Repeat(turn+",", 199) + turn + `]}` // 200 KB
	first := func(url string) time.Duration {
		req := d.request(b, "POST", "/v1/messages", body)
		req.URL.Host = strings.TrimPrefix(url, "http://")
		start := time.Now()
		resp, err := d.client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadFull(resp.Body, make([]byte, 1)); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		io.Copy(io.Discard, resp.Body)
		return took
	}
	var plain, through []time.Duration
	for b.Loop() {
		plain = append(plain, first(direct))
		through = append(through, first(d.url))
	}
	p, t := median(plain), median(through)
	b.ReportMetric(float64(p.Microseconds())/1000, "ms-direct")
	b.ReportMetric(float64(t.Microseconds())/1000, "ms-gateway")
	b.ReportMetric(float64((t-p).Microseconds())/1000, "ms-added")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// nothing is a record that keeps nothing: the gateway's own part of the cost.
type nothing struct{}

func (nothing) AppendBlob(string, []byte) error { return nil }

// BenchmarkThroughput passes large streams: directly, through a gateway that
// records on disk, and through one that records nowhere.
func BenchmarkThroughput(b *testing.B) {
	line := "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"" + strings.Repeat("words ", 600) + "\"}}\n\n"
	chunk := []byte(strings.Repeat(line, 32<<10/len(line)+1))
	const size = 64 << 20
	d, direct := onDisk(b, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 0; n < size; n += len(chunk) {
			w.Write(chunk)
		}
	})
	bare := openAt(b, gateway.Options{Upstream: gateway.Upstream{BaseURL: direct}, Blobs: nothing{}, Token: d.Token()})
	for _, c := range []struct{ name, url string }{{"direct", direct}, {"gateway", d.url}, {"unrecorded", bare.url}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				req := d.request(b, "POST", "/v1/messages", `{"model":"m"}`)
				req.URL.Host = strings.TrimPrefix(c.url, "http://")
				resp, err := d.client.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, resp.Body); err != nil || n < size {
					b.Fatal(n, err)
				}
				resp.Body.Close()
			}
		})
	}
}
