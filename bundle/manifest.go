package bundle

import (
	"time"

	"conclave/bundle/redact"
	"conclave/record"
)

// FormatVersion is the version of the bundle format that is written. A reader
// accepts every 1.x.
const FormatVersion = "1.0.0"

// Root is the directory that holds everything in a bundle.
const Root = "debug_bundle"

// The files that other packages look for.
const (
	ManifestFile   = "manifest.json"
	LogFile        = "logs/app.jsonl"
	TranscriptFile = "transcript.jsonl"
	ReceiptsFile   = "receipts.jsonl"
	RecordFile     = "record/run.record"
	InputFile      = "request/input.json"
	OutputFile     = "request/output.json"
	BeforeFile     = "session/before.jsonl"
	AfterFile      = "session/after.jsonl"
	ConfigFile     = "config.json"
	ContextFile    = "run_context.json"
	MetricsFile    = "metrics.json"
	ErrorFile      = "error.json"
	ReadmeFile     = "README.txt"
)

// Manifest is manifest.json. The fields up to Build are those of the format;
// a reader of the format passes over the others. Within a version, fields are
// only added.
type Manifest struct {
	FormatVersion string    `json:"format_version"`
	BundleID      string    `json:"bundle_id"`
	CreatedAt     string    `json:"created_at"`
	Request       Request   `json:"request"`
	Capture       Capture   `json:"capture"`
	Prompt        Prompt    `json:"prompt"`
	Files         []string  `json:"files"`
	Integrity     Integrity `json:"integrity"`
	Build         Build     `json:"build"`

	Record     *RecordInfo     `json:"record,omitempty"`
	Redaction  *Redaction      `json:"redaction,omitempty"`
	Filesystem *FilesystemInfo `json:"filesystem,omitempty"`
}

// Created is CreatedAt as a time; zero when it is none.
func (m Manifest) Created() time.Time {
	t, err := time.Parse(time.RFC3339, m.CreatedAt)
	if err != nil {
		return time.Time{}
	}
	return t
}

// Request says which run it is about and how that ended.
type Request struct {
	RequestID string  `json:"request_id"`
	SessionID *string `json:"session_id"`
	Status    string  `json:"status"` // success or error
	StartedAt string  `json:"started_at"`
	EndedAt   string  `json:"ended_at"`
}

// Capture says how the bundle came about, and which limits cut something off.
type Capture struct {
	Mode    string          `json:"mode"`
	Trigger string          `json:"trigger"`
	Limits  map[string]bool `json:"limits_applied"`
}

// Prompt says what was being evaluated, and by whom.
type Prompt struct {
	Namespace string `json:"ns"`
	Key       string `json:"key"`
	Adapter   string `json:"adapter"`
}

// Integrity is the checksum of every file but the manifest.
type Integrity struct {
	Algorithm string            `json:"algorithm"`
	Checksums map[string]string `json:"checksums"`
}

// Build is the program that wrote the bundle.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
}

// RecordInfo is what the chain of the run came to. Head is over Frames and is
// the same in the record on the machine, in its receipt and in the copy.
type RecordInfo struct {
	Run      string      `json:"run"`
	Frames   uint64      `json:"frames"`
	Head     record.Hash `json:"head"`
	Sealed   bool        `json:"sealed"`
	Reason   string      `json:"seal_reason,omitempty"`
	Withheld int         `json:"withheld"` // payloads that the copy lacks
	Omitted  string      `json:"omitted,omitempty"`
}

// Redaction says what was taken out. Applied false means that the person wanted
// the bundle as it is.
type Redaction struct {
	Applied bool                     `json:"applied"`
	Kinds   redact.Counts            `json:"kinds"`
	Places  map[string]redact.Counts `json:"places"`
}

// FilesystemInfo says what of the workspace was left out.
type FilesystemInfo struct {
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	LeftOut  int      `json:"left_out"`
	Examples []string `json:"examples,omitempty"`
}

// stamp is the format's form of a time.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000-07:00") }
