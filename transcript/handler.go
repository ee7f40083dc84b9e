package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
)

// handler writes log records as lines of JSON with the keys timestamp, level,
// logger, event, message and context: the form that debug bundles hold. A
// record that an Emitter made is written byte for byte as it stands on the
// record; any other has its attributes put into context, and its event from
// the attribute "event".
//
// Each record is one call of Write. It is safe for concurrent use.
type handler struct {
	out    *lockedWriter
	logger string
	level  slog.Leveler
	attrs  []slog.Attr // of the innermost group
	groups []openGroup // outermost first
}

type openGroup struct {
	name   string
	before []slog.Attr // what stood outside it when it was opened
}

type lockedWriter struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// NewHandler returns a handler that writes records of level or above to w;
// nil means all of them. logger is the name that other people's records bear.
func NewHandler(w io.Writer, logger string, level slog.Leveler) *handler {
	if level == nil {
		level = slog.LevelDebug
	}
	return &handler{out: &lockedWriter{w: w}, logger: logger, level: level}
}

// Enabled implements slog.Handler.
func (h *handler) Enabled(_ context.Context, l slog.Level) bool { return l >= h.level.Level() }

// WithAttrs implements slog.Handler.
func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	c := *h
	c.attrs = slices.Concat(h.attrs, attrs)
	return &c
}

// WithGroup implements slog.Handler.
func (h *handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	c := *h
	c.groups = append(slices.Clone(h.groups), openGroup{name, h.attrs})
	c.attrs = nil
	return &c
}

// Handle implements slog.Handler.
func (h *handler) Handle(_ context.Context, r slog.Record) error {
	var ours *logged
	r.Attrs(func(a slog.Attr) bool {
		ours, _ = a.Value.Any().(*logged)
		return ours == nil
	})
	if ours != nil {
		return h.out.line(ours.line)
	}
	line, err := h.encode(r)
	if err != nil {
		return err
	}
	return h.out.line(line)
}

func (h *handler) encode(r slog.Record) ([]byte, error) {
	attrs := slices.Clone(h.attrs)
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	for _, g := range slices.Backward(h.groups) {
		inner := slog.Attr{Key: g.name, Value: slog.GroupValue(attrs...)}
		attrs = append(slices.Clone(g.before), inner)
	}
	event := r.Message
	attrs = slices.DeleteFunc(attrs, func(a slog.Attr) bool {
		if a.Key != "event" || a.Value.Kind() != slog.KindString {
			return false
		}
		event = a.Value.String()
		return true
	})
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Timestamp string         `json:"timestamp"`
		Level     string         `json:"level"`
		Logger    string         `json:"logger"`
		Event     string         `json:"event"`
		Message   string         `json:"message"`
		Context   map[string]any `json:"context"`
	}{r.Time.UTC().Format(TimeLayout), levelName(r.Level), h.logger, event, r.Message, attrMap(attrs)})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func attrMap(attrs []slog.Attr) map[string]any {
	m := map[string]any{}
	for _, a := range attrs {
		v := a.Value.Resolve()
		switch {
		case v.Kind() == slog.KindGroup && a.Key == "":
			maps.Copy(m, attrMap(v.Group()))
		case v.Kind() == slog.KindGroup:
			m[a.Key] = attrMap(v.Group())
		case a.Key != "":
			m[a.Key] = plain(v)
		}
	}
	return m
}

func plain(v slog.Value) any {
	switch v.Kind() {
	case slog.KindDuration:
		return v.Duration().String()
	case slog.KindTime:
		return v.Time().UTC().Format(TimeLayout)
	}
	if err, ok := v.Any().(error); ok {
		return err.Error()
	}
	return v.Any()
}

func (w *lockedWriter) line(line []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(append(w.buf[:0], line...), '\n')
	_, err := w.w.Write(w.buf)
	return err
}
