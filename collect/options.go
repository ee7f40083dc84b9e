package collect

import (
	"path/filepath"
	"time"

	"conclave/session"
	"conclave/transcript"
)

// Options configure a Collector. Only Workspace is required.
type Options struct {
	Workspace string   // the directory that has, or gets, .conclave
	Roots     []string // directories to follow; what is below them counts
	Files     []string // files to follow, whatever their names
	Hooks     bool     // also follow the files that Note was told of
	Adapter   string   // the adapter of all files; "" finds it out
	Program   string   // stands in the header of new records

	// The settings of the transcript specification, and its defaults.
	PollInterval      time.Duration // between looks without an event; 0 means 250 ms
	DiscoveryInterval time.Duration // between searches for subagents; 0 means 1 s
	MaxReadBytes      int           // bytes per read; 0 means 65536

	// Stream takes the log stream of everything recorded; nil: there is none.
	// The settings of the specification leave the transcript out of it, or raw.
	Stream                   *transcript.Stream
	StreamQuiet, StreamNoRaw bool

	Once bool          // stop when all that is there was read
	Idle time.Duration // stop when nothing new came for so long; 0: never

	// Queue waits while another process reads here once, and lets it be (ErrOthers)
	// where somebody follows, or waits already: they read what is there by now.
	Queue bool

	// StopWithin bounds the reading after ctx has ended; what is not read by
	// then is in the Balance, and the next run goes on there. 0: no bound.
	StopWithin time.Duration

	NoEvents bool // poll only

	giant              int   // see giantLine; 0 means its default
	maxLine, pieceSize int64 // 0 means session.MaxLine and its pieces

	// Progress is told of the state about once a second while Run works.
	Progress func(Balance)
}

// The defaults of the specification.
const (
	DefaultPollInterval      = 250 * time.Millisecond
	DefaultDiscoveryInterval = time.Second
	DefaultMaxReadBytes      = 65536
)

func (o *Options) fill() {
	if o.PollInterval <= 0 {
		o.PollInterval = DefaultPollInterval
	}
	if o.DiscoveryInterval <= 0 {
		o.DiscoveryInterval = DefaultDiscoveryInterval
	}
	if o.MaxReadBytes <= 0 {
		o.MaxReadBytes = DefaultMaxReadBytes
	}
	if o.giant <= 0 {
		o.giant = giant
	}
	if o.maxLine <= 0 {
		o.maxLine, o.pieceSize = session.MaxLine, session.PieceSize
	}
}

// stateDir is where the collector keeps what is not a record.
func stateDir(workspace string) string { return filepath.Join(workspace, ".conclave", "collect") }
