package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// collector sends requests, one a line, to a collector of traces by OTLP over
// HTTP. It follows no redirection: what leaves the machine goes where the person
// said.
type collector struct {
	ctx     context.Context
	address string
	headers http.Header
	client  *http.Client
	rest    []byte
}

// newCollector takes the address of a collector, with or without the path for
// traces, and headers as OpenTelemetry's own programs have them in their
// environment: name=value, with commas between.
func newCollector(ctx context.Context, address, headers string) (*collector, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, usageError("--endpoint %q: want an address like http://127.0.0.1:4318", address)
	}
	if !strings.HasSuffix(u.Path, "/v1/traces") {
		u = u.JoinPath("v1", "traces")
	}
	c := &collector{ctx: ctx, address: u.String(), headers: http.Header{"Content-Type": {"application/json"}},
		client: &http.Client{Timeout: time.Minute, CheckRedirect: stay}}
	for pair := range strings.SplitSeq(headers, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if plain, err := url.PathUnescape(value); ok && err == nil {
			c.headers.Set(name, plain)
		}
	}
	return c, nil
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Write takes lines, in whatever pieces.
func (c *collector) Write(p []byte) (int, error) {
	c.rest = append(c.rest, p...)
	for {
		i := bytes.IndexByte(c.rest, '\n')
		if i < 0 {
			return len(p), nil
		}
		if err := c.post(c.rest[:i]); err != nil {
			return 0, environmentError("%w", err)
		}
		c.rest = append(c.rest[:0], c.rest[i+1:]...)
	}
}

func (c *collector) post(body []byte) (err error) {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, c.address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.headers.Clone()
	res, err := c.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	said, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("%s says %s: %.300q", c.address, res.Status, said)
	}
	return err
}
