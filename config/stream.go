package config

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"conclave/frontmatter"
)

// Streaming are the settings that the transcript specification gives its
// adapters, by its own names. They stand at an agent, or at the top for
// everybody. What they turn off is left out of the log stream (--log); the
// record is never theirs to silence.
type Streaming struct {
	Transcript        *bool `yaml:"transcript"`          // false: no transcript in the stream
	TranscriptEmitRaw *bool `yaml:"transcript_emit_raw"` // false: entries without raw

	// TranscriptCollection is how session files are read; null turns the
	// transcript off in the stream, as Transcript does.
	TranscriptCollection *Collection `yaml:"transcript_collection"`
}

// Collection is how session files are read.
type Collection struct {
	PollInterval              *float64 `yaml:"poll_interval"`               // seconds between looks
	SubagentDiscoveryInterval *float64 `yaml:"subagent_discovery_interval"` // seconds between searches
	MaxReadBytes              *int     `yaml:"max_read_bytes"`              // bytes per read
	EmitRaw                   *bool    `yaml:"emit_raw"`                    // false: entries without raw

	off bool
}

// Stream is what Streaming comes to. Zero durations and sizes are the reader's
// own.
type Stream struct {
	Quiet, NoRaw    bool // without the transcript, or without raw
	Poll, Discovery time.Duration
	MaxReadBytes    int
}

// StreamOf is what holds for an agent: its own settings, and where it has none
// those at the top.
func (c Config) StreamOf(a Agent) Stream {
	own, top := a.Streaming, c.Streaming
	collection, general := own.TranscriptCollection, top.TranscriptCollection
	if collection == nil {
		collection = &Collection{off: general != nil && general.off}
	}
	if general == nil {
		general = &Collection{}
	}
	return Stream{
		Quiet: isFalse(own.Transcript, top.Transcript) || collection.off,
		NoRaw: isFalse(own.TranscriptEmitRaw, top.TranscriptEmitRaw) ||
			isFalse(collection.EmitRaw, general.EmitRaw),
		Poll:         seconds(collection.PollInterval, general.PollInterval),
		Discovery:    seconds(collection.SubagentDiscoveryInterval, general.SubagentDiscoveryInterval),
		MaxReadBytes: value(cmp.Or(collection.MaxReadBytes, general.MaxReadBytes)),
	}
}

func value[V any](p *V) (v V) {
	if p != nil {
		v = *p
	}
	return v
}

func isFalse(own, top *bool) bool {
	p := cmp.Or(own, top)
	return p != nil && !*p
}

func seconds(own, top *float64) time.Duration {
	return time.Duration(value(cmp.Or(own, top)) * float64(time.Second))
}

// longestInterval is as long as anybody would wait for the next look.
const longestInterval = 3600

// checkStreaming finds what cannot be obeyed, and a transcript_collection that
// is null.
func (c *Config) checkStreaming(data []byte) error {
	err := c.Streaming.check(data)
	for _, role := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[role]
		err = cmp.Or(err, a.Streaming.check(data, "agents", role))
		c.Agents[role] = a
	}
	return err
}

func (s *Streaming) check(data []byte, at ...string) error {
	const name = "transcript_collection"
	at = append(slices.Clone(at), name)
	line := frontmatter.KeyLine(data, at...)
	if line == 0 {
		return nil
	}
	if s.TranscriptCollection == nil {
		s.TranscriptCollection = &Collection{off: true}
		return nil
	}
	l := s.TranscriptCollection
	for key, v := range map[string]*float64{
		"poll_interval": l.PollInterval, "subagent_discovery_interval": l.SubagentDiscoveryInterval,
	} {
		if v != nil && !(*v > 0 && *v <= longestInterval) {
			return fmt.Errorf("line %d: %s: %s is in seconds, above zero and at most an hour, and not %v",
				line, strings.Join(at, ": "), key, *v)
		}
	}
	if v := l.MaxReadBytes; v != nil && (*v <= 0 || *v > math.MaxInt32) {
		return fmt.Errorf("line %d: %s: max_read_bytes is above zero, and not %d", line, strings.Join(at, ": "), *v)
	}
	return nil
}

// overStream is s with what o says put over it.
func (s Streaming) overStream(o Streaming) Streaming {
	return Streaming{
		Transcript:           cmp.Or(o.Transcript, s.Transcript),
		TranscriptEmitRaw:    cmp.Or(o.TranscriptEmitRaw, s.TranscriptEmitRaw),
		TranscriptCollection: cmp.Or(o.TranscriptCollection, s.TranscriptCollection),
	}
}
