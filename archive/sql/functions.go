package sql

import (
	"database/sql/driver"
	"fmt"
	"strings"
	"time"

	"conclave/archive"
	"conclave/internal/jsontext"
	"conclave/internal/price"
	"conclave/internal/sqlite"
	"conclave/transcript"
)

// functions are those that the views are made with. What is long stands in the
// blocks, and is read only when a query asks for it.
func functions(a *archive.Archive) []sqlite.Function {
	costUSD := func(args []driver.Value) (driver.Value, error) { return cost(a.Prices(), args) }
	return []sqlite.Function{
		// conclave_part(what, source's kind, adapter, type, block, off, size, part)
		{Name: "conclave_part", Args: 8, Call: func(args []driver.Value) (driver.Value, error) { return part(a, args) }},
		{Name: "conclave_time", Args: 1, Pure: true, Call: timeText},
		{Name: "cost_usd", Args: sqlite.AnyArgs, Pure: true, Call: costUSD},
	}
}

func timeText(args []driver.Value) (driver.Value, error) {
	if at, ok := args[0].(int64); ok {
		return time.UnixMicro(at).UTC().Format(transcript.TimeLayout), nil
	}
	return nil, nil
}

// cost_usd(model, input, output, cache read, cache write[, of which for an hour, web searches])
// is what one response cost.
func cost(prices price.List, args []driver.Value) (driver.Value, error) {
	if len(args) != 5 && len(args) != 7 {
		return nil, fmt.Errorf("cost_usd takes a model, input, output, cache read and cache write, "+
			"and after these what of the last is for an hour, and web searches; here it has %d arguments", len(args))
	}
	model, _ := args[0].(string)
	p, ok := prices.Of(model)
	if !ok {
		return nil, nil
	}
	var u transcript.Usage
	to := []*int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite, &u.CacheWrite1h, &u.Searches}
	for i, n := range args[1:] {
		*to[i], _ = n.(int64)
	}
	return p.Cost(u), nil
}

func part(a *archive.Archive, args []driver.Value) (driver.Value, error) {
	what, _ := args[0].(string)
	var r archive.Ref
	r.Kind, _ = args[1].(string)
	r.Adapter, _ = args[2].(string)
	typ, _ := args[3].(string)
	r.Type = transcript.Type(typ)
	for i, to := range []*int64{&r.Block, &r.Off, &r.Size, &r.Part} {
		n, ok := args[i+4].(int64)
		if !ok {
			return nil, nil // the other side of an outer join
		}
		*to = n
	}
	e, err := a.Show(r)
	if err != nil {
		return nil, err
	}
	if name, ok := strings.CutPrefix(what, "reading."); ok {
		return readColumn(a, r.Type, e, name), nil
	}
	if out := column(e, what); out != nil {
		return string(out), nil
	}
	return nil, nil
}

// readColumn is a column of the original system's reading of an entry. What was
// apart in the line may stand together in it: it is redacted once more.
func readColumn(a *archive.Archive, typ transcript.Type, e *archive.Shown, name string) string {
	as := readAs(typ, e.Detail, e.Raw)
	switch name {
	case "role":
		return as.role
	case "tool":
		return string(a.Clean([]byte(as.tool)))
	case "tool_id":
		return as.toolID
	}
	return string(a.Clean([]byte(as.content)))
}

// column is what the views call a part of an entry, nil for NULL.
func column(e *archive.Shown, what string) []byte {
	switch what {
	case "content":
		return e.Text()
	case "raw":
		return e.Raw
	case "line":
		return e.Line
	case "detail":
		return e.Detail
	case "parsed":
		if p := jsontext.Get(e.Detail, "sdk_entry"); p != nil {
			return p
		}
		return e.Detail
	case "context":
		if e.Log {
			return jsontext.Get(e.Line, "context")
		}
		return nil
	case "message":
		return e.Message()
	case "input":
		return e.Input()
	}
	return nil
}
