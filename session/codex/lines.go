package codex

import (
	"conclave/internal/jsontext"
	"conclave/transcript"
)

// Format is one of the ways in which Codex writes down what it does.
type Format string

// The formats.
const (
	FormatUnknown Format = ""
	FormatServer  Format = "app-server"        // what app-server writes
	FormatClient  Format = "app-server client" // what is sent to it
	FormatRollout Format = "rollout"
	FormatExec    Format = "exec"
)

// Sniff says which format a line is of.
func Sniff(line []byte) Format {
	var kind, payload, method, id, result, failure, version []byte
	if pick(line, want{"type", &kind}, want{"payload", &payload}, want{"method", &method}, want{"id", &id},
		want{"result", &result}, want{"error", &failure}, want{"jsonrpc", &version}) != nil {
		return FormatUnknown
	}
	switch {
	case version != nil: // other people's JSON-RPC; Codex leaves the version out
		return FormatUnknown
	case kind != nil && payload != nil && method == nil:
		return FormatRollout
	case method != nil && clientMethods[jsontext.Text(method)]:
		return FormatClient
	case method != nil, id != nil && (result != nil || failure != nil):
		return FormatServer
	case execKinds[jsontext.Text(kind)]:
		return FormatExec
	}
	return FormatUnknown
}

var clientMethods = map[string]bool{
	"initialize": true, "initialized": true, "thread/start": true, "thread/resume": true, "thread/fork": true,
	"turn/start": true, "turn/steer": true, "turn/interrupt": true, "thread/compact/start": true,
}

var execKinds = map[string]bool{
	"thread.started": true, "turn.started": true, "turn.completed": true, "turn.failed": true,
	"item.started": true, "item.updated": true, "item.completed": true, "error": true,
}

// mapper is what all of them do.
type mapper interface {
	Map(line []byte) []transcript.Item
	Flush() []transcript.Item
	Unrecognised() []string
}

// FileMapper maps a file of Codex whose format it finds out by its first line that
// has one. The zero value is ready for use. It is not safe for concurrent use.
// The items share the memory of the line.
type FileMapper struct {
	format Format
	m      mapper
	early  []string // lines before the format was known
	named  map[string]int64

	line  []byte            // the last one
	items []transcript.Item // of the last call
	model string            // named last
}

// Format is the format of the file, as far as it is known.
func (f *FileMapper) Format() Format { return f.format }

// Map maps one line, given without its newline.
func (f *FileMapper) Map(line []byte) []transcript.Item {
	if f.m == nil {
		if f.format = Sniff(line); f.format == FormatUnknown {
			return f.unknown(line)
		}
		switch f.format {
		case FormatRollout:
			f.m = new(Rollout)
		case FormatExec:
			f.m = new(Exec)
		case FormatClient:
			f.m = clientSide{new(Mapper)}
		default:
			f.m = serverSide{new(Mapper)}
		}
	}
	return f.m.Map(line)
}

func (f *FileMapper) unknown(line []byte) []transcript.Item {
	if !jsontext.Valid(line) {
		return notJSON(line)
	}
	if len(f.early) == 0 {
		f.early = []string{"lines of no known format"}
	}
	return one(transcript.Item{Type: transcript.Unknown,
		Detail: new(detail).raw("notification", line).done(), Raw: line})
}

// Append is Map into a slice that the caller has.
func (f *FileMapper) Append(dst []transcript.Item, line []byte) []transcript.Item {
	if model := jsontext.Find(line, modelMark); len(model) > 0 {
		f.model = string(model)
	}
	f.line, f.items = line, f.count(f.Map(line))
	return append(dst, f.items...)
}

// Flush gives what is left when no further line will come.
func (f *FileMapper) Flush() []transcript.Item {
	if f.m == nil {
		return nil
	}
	f.line, f.items = nil, f.count(f.m.Flush())
	return f.items
}

// Unknown counts the entries of type unknown that Append and Flush gave, by
// name.
func (f *FileMapper) Unknown() map[string]int64 {
	if f.named == nil {
		f.named = map[string]int64{}
	}
	return f.named
}

func (f *FileMapper) count(items []transcript.Item) []transcript.Item {
	for i := range items {
		if items[i].Type == transcript.Unknown {
			f.Unknown()[unknownName(items[i].Detail)]++
		}
	}
	return items
}

// unknownName is what an entry of type unknown is counted under.
func unknownName(detail []byte) string {
	for _, name := range jsontext.Members(detail, "subtype", "method", "rollout") {
		if s := jsontext.Text(name); s != "" {
			return s
		}
	}
	return "no name"
}

// Unrecognised lists what the mapper did not know, each once.
func (f *FileMapper) Unrecognised() []string {
	if f.m == nil {
		return f.early
	}
	return append(f.early, f.m.Unrecognised()...)
}

type serverSide struct{ *Mapper }

func (s serverSide) Map(line []byte) []transcript.Item { return s.Server(line) }

type clientSide struct{ *Mapper }

func (s clientSide) Map(line []byte) []transcript.Item { return s.Client(line) }
