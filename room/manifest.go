package room

// Manifest says what is in a room. It is part of every receipt.
type Manifest struct {
	Items   []Item    `json:"items"`
	LeftOut []LeftOut `json:"left_out,omitempty"`
}

// Item is one file of a room; or, with Mounted set, one mounted tree of Files
// files, whose SHA256 is that of its listing (path, size and time of each).
type Item struct {
	Kind    string `json:"kind"`
	Path    string `json:"path"` // below the room, slash-separated
	Size    int64  `json:"size"`
	SHA256  string `json:"sha256"`
	Mounted bool   `json:"mounted,omitempty"`
	Files   int    `json:"files,omitempty"`
}

// LeftOut is something that was found in a granted directory or a view and
// stays outside.
type LeftOut struct {
	Path string `json:"path"` // where it would have been
	Why  string `json:"why"`
}
