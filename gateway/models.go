package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

// maxModels bounds a list of models: nobody offers that many.
const maxModels = 8 << 20

// ErrNoList: a server answers, and has no list of its models.
var ErrNoList = errors.New("it gives no list of its models")

// Models asks an upstream which models it has: the names by which they are asked
// for, in order. It is no turn and goes on no record; the key is shown to nobody
// but that upstream, and redirects are not followed.
func Models(ctx context.Context, up Upstream) ([]string, error) {
	api, base, err := baseURL(up)
	if err != nil {
		return nil, err
	}
	u := *base
	u.Path += "/models"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if api.list != nil {
		api.list(req)
	}
	if up.Key != "" {
		api.key(req.Header, up.Key)
	}
	transport := newTransport()
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("ask %s for its models: %w", base.Host, bare(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxModels))
	switch {
	case err != nil:
		return nil, fmt.Errorf("ask %s for its models: %w", base.Host, bare(err))
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("ask %s for its models: %w (%s)", base.Host, ErrKey, resp.Status)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("ask %s for its models: %w (%s)", base.Host, ErrNoList, resp.Status)
	}
	names := modelNames(body)
	if len(names) == 0 {
		return nil, fmt.Errorf("ask %s for its models: %w", base.Host, ErrNoList)
	}
	return names, nil
}

// ErrKey: the server does not take the key.
var ErrKey = errors.New("the key is not accepted")

// modelNames reads a list of models in the words of any of the kinds.
func modelNames(body []byte) []string {
	var list struct {
		Data   []struct{ ID string }
		Models []struct{ Name string }
	}
	if json.Unmarshal(body, &list) != nil {
		return nil
	}
	var names []string
	for _, m := range list.Data {
		names = append(names, m.ID)
	}
	for _, m := range list.Models {
		names = append(names, strings.TrimPrefix(m.Name, "models/"))
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "" || len(n) > maxModelName })
	slices.Sort(names)
	return slices.Compact(names)
}

const maxModelName = 200
