package room

import "conclave/agent"

// Descriptors of the helpers. The first is the program itself, because the
// room's user may not be able to reach its path.
const (
	fdSelf           = 3
	fdOrders         = 4
	fdTalk           = 5
	fdStageTwoOrders = 6
	fdStageTwoTalk   = 7
	fdTrees          = 8 // mounts that only this process could open, if any
)

// bind is one mount of the room.
type bind struct {
	From  string `json:"from"`
	To    string `json:"to"`   // below the new root, no leading slash
	Tree  int    `json:"tree"` // a descriptor, 0 for none
	File  bool   `json:"file"`
	Write bool   `json:"write"`
	Own   bool   `json:"-"` // not the system's
}

type builderOrders struct {
	Level    Level             `json:"level"`
	Spaces   bool              `json:"spaces"` // it was started in namespaces of its own
	User     int               `json:"user"`   // the room's user there
	Group    int               `json:"group"`
	Binds    []bind            `json:"binds"`
	Links    map[string]string `json:"links"`  // symbolic links by their place
	Files    map[string]string `json:"files"`  // small files by their place
	Covers   []string          `json:"covers"` // directories below the new root
	View     *viewOrders       `json:"view"`
	Port     int               `json:"port"` // 0 for no door
	Terrain  terrain           `json:"terrain"`
	Separate bool              `json:"separate"`
}

// viewOrders is a mounted view of a project.
type viewOrders struct {
	bind
	// Absent are the names that do not exist in it, each ended by a zero byte:
	// a name need not be text.
	Absent  []byte `json:"absent"`
	Covered bool   `json:"covered"` // the project holds mounts
}

type stageTwoOrders struct {
	Level    Level         `json:"level"`
	Command  agent.Command `json:"command"`
	Limits   Limits        `json:"limits"`
	Terrain  terrain       `json:"terrain"`
	Before   []string      `json:"before"` // attempts before restriction
	After    []string      `json:"after"`  // attempts after it
	Rules    rules         `json:"rules"`
	Terminal bool          `json:"terminal"`
}

// rules are the paths that Landlock leaves open.
type rules struct {
	Read       []string `json:"read"`
	Write      []string `json:"write"`
	WriteFiles []string `json:"write_files"`
	Proc       bool     `json:"proc"` // only this process's own part of /proc
	Net        bool     `json:"net"`  // restrict TCP to Port
	Port       int      `json:"port"`
}

type witnessOrders struct {
	Terrain terrain  `json:"terrain"`
	Try     []string `json:"try"`
}
