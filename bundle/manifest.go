package bundle

import (
	"time"

	"conclave/bundle/redact"
	"conclave/record"
)

// formatVersion is the version of the bundle format that is written. A reader
// accepts every 1.x.
const formatVersion = "1.0.0"

// Root is the directory that holds everything in a bundle.
const Root = "debug_bundle"

// The files that other packages look for.
const (
	manifestFile   = "manifest.json"
	logFile        = "logs/app.jsonl"
	TranscriptFile = "transcript.jsonl"
	receiptsFile   = "receipts.jsonl"
	RecordFile     = "record/run.record" // in bundles of today put together from the next and the log
	framesFile     = "record/run.frames"
	inputFile      = "request/input.json"
	outputFile     = "request/output.json"
	beforeFile     = "session/before.jsonl"
	afterFile      = "session/after.jsonl"
	configFile     = "config.json"
	contextFile    = "run_context.json"
	metricsFile    = "metrics.json"
	errorFile      = "error.json"
	readmeFile     = "README.txt"
)

// Manifest is manifest.json. The fields up to Build are those of the format;
// a reader of the format passes over the others. Within a version, fields are
// only added.
type Manifest struct {
	FormatVersion string    `json:"format_version"`
	BundleID      string    `json:"bundle_id"`
	CreatedAt     string    `json:"created_at"`
	Request       request   `json:"request"`
	Capture       capture   `json:"capture"`
	Prompt        prompt    `json:"prompt"`
	Files         []string  `json:"files"`
	Integrity     integrity `json:"integrity"`
	Build         Build     `json:"build"`

	Record     *recordInfo     `json:"record,omitempty"`
	Redaction  *redaction      `json:"redaction,omitempty"`
	Filesystem *filesystemInfo `json:"filesystem,omitempty"`
}

// created is CreatedAt as a time; zero when it is none.
func (m Manifest) created() time.Time {
	t, _ := time.Parse(time.RFC3339, m.CreatedAt)
	return t
}

// request says which run it is about and how that ended.
type request struct {
	RequestID string  `json:"request_id"`
	SessionID *string `json:"session_id"`
	Status    string  `json:"status"` // success or error
	StartedAt string  `json:"started_at"`
	EndedAt   string  `json:"ended_at"`
}

// capture says how the bundle came about, and which limits cut something off.
type capture struct {
	Mode    string          `json:"mode"`
	Trigger string          `json:"trigger"`
	Limits  map[string]bool `json:"limits_applied"`
}

// prompt says what was being evaluated, and by whom.
type prompt struct {
	Namespace string `json:"ns"`
	Key       string `json:"key"`
	Adapter   string `json:"adapter"`
}

// integrity is the checksum of every file but the manifest.
type integrity struct {
	Algorithm string            `json:"algorithm"`
	Checksums map[string]string `json:"checksums"`
}

// Build is the program that wrote the bundle.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// recordInfo is what the chain of the run came to. Head is over Frames and is
// the same in the record on the machine, in its receipt and in the copy.
type recordInfo struct {
	Run      string      `json:"run"`
	Frames   uint64      `json:"frames"`
	Head     record.Hash `json:"head"`
	Sealed   bool        `json:"sealed"`
	Reason   string      `json:"seal_reason,omitempty"`
	Withheld int         `json:"withheld"`       // payloads that the copy lacks
	Size     int64       `json:"size,omitempty"` // of the copy, once it is put together; 0: it lies there whole
	Omitted  string      `json:"omitted,omitempty"`
}

// redaction says what was taken out. Applied false means that the person wanted
// the bundle as it is.
type redaction struct {
	Applied bool                     `json:"applied"`
	Kinds   redact.Counts            `json:"kinds"`
	Places  map[string]redact.Counts `json:"places"`
}

// filesystemInfo says what of the workspace was left out.
type filesystemInfo struct {
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	LeftOut  int      `json:"left_out"`
	Examples []string `json:"examples,omitempty"`
}

// stamp is the format's form of a time.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000-07:00") }
