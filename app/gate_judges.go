package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"conclave/agent/acp"
	"conclave/config"
	gateflow "conclave/gate/flow"
	"conclave/seat"
	door "conclave/workspace"
)

// seated says early that somebody cannot be asked. A judge has no login: what its
// model was sent must be on the record.
func (s *gateSession) seated(context.Context) error {
	items, err := s.w.roleItems(s.in.Judge)
	if err != nil {
		return environmentError("%w", err)
	}
	if err := s.w.vouchFor(items); err != nil {
		return err
	}
	for n := 1; n <= s.in.Judges; n++ {
		if _, err := s.w.cast(s.w.config.Judge(s.in.Judge, n), s.embedded); err != nil {
			return err
		}
	}
	return nil
}

// spends says whether somebody is asked who asks a model.
func (s *gateSession) spends() bool {
	for n := 1; n <= s.in.Judges; n++ {
		if s.judgeAgent(n).Agent != "offline" {
			return true
		}
	}
	return false
}

func (s *gateSession) judgeAgent(n int) config.Agent {
	return s.w.config.For(s.w.config.Judge(s.in.Judge, n))
}

// dress puts the n-th judge into its seat, and says which kind of provider its
// model has.
func (s *gateSession) dress(n int, p *seat.Plan) (string, error) {
	name := s.w.config.Judge(p.Role, n)
	a, err := s.w.cast(name, s.embedded)
	if err != nil {
		return "", err
	}
	a.dress(p, s.w)
	p.Limits.Wall = turnWall
	p.Builtin = readingTools(s.w.config.For(name).Agent)
	if a.upstream == nil {
		return "", nil
	}
	return string(a.upstream.Kind), nil
}

// gateVersion counts ways of judging: what was judged in another is judged anew.
const gateVersion = 1

// judgeKey is what makes a judge another one.
type judgeKey struct {
	Agent        string `json:"agent"`
	Provider     string `json:"provider,omitempty"` // its kind, and where it is
	Model        string `json:"model,omitempty"`
	Program      string `json:"program,omitempty"` // by its version, or the file and its time
	Script       string `json:"script,omitempty"`
	Instructions string `json:"instructions,omitempty"`
	Lower        string `json:"lower,omitempty"`
}

// cacheKey is what a verdict is kept under: the case, who wrote its criteria, who
// judges, and what the receipt has to say besides.
func (s *gateSession) cacheKey(o gateflow.Options, stamps []string) (string, error) {
	key := struct {
		Version int        `json:"version"`
		Program string     `json:"program"`
		Case    string     `json:"case"`
		Origin  string     `json:"origin"`
		File    string     `json:"file"`
		Judges  []judgeKey `json:"judges"`
		Stamps  []string   `json:"stamps"`
	}{Version: gateVersion, Case: o.Case.Digest, Stamps: stamps}
	key.Origin, key.File = o.Case.Criteria.Origin, o.Case.Criteria.File
	for n := 1; n <= s.in.Judges; n++ {
		one, err := s.judgeKey(n, o.Instructions)
		if err != nil {
			return "", err
		}
		if one.Agent == "offline" || one.Agent == "scripted" {
			key.Program = o.Program // they are part of it
		}
		key.Judges = append(key.Judges, one)
	}
	data, err := json.Marshal(key)
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

func (s *gateSession) judgeKey(n int, instructions []byte) (judgeKey, error) {
	a := s.judgeAgent(n)
	key := judgeKey{Agent: a.Agent, Model: a.Model, Lower: s.w.config.Lower[s.in.Judge]}
	key.Instructions = digestOf(instructions)
	if a.Script != "" {
		data, err := s.w.door.Read(a.Script, door.MaxText)
		if err != nil {
			return key, environmentError("the script of %s: %w", s.in.Judge, err)
		}
		key.Script = digestOf(data)
	}
	if p, err := s.w.config.ProviderOf(a); err == nil {
		key.Provider = string(p.Kind) + " " + p.BaseURL
	}
	key.Program = s.programOf(a)
	return key, nil
}

// programOf is the program that an agent is: by its version where npm has noted
// it, or else as it lies on this machine; where it is not known which, nothing.
func (s *gateSession) programOf(a config.Agent) string {
	name := a.Agent
	switch a.Agent {
	case "acp":
		name = a.Program
	case "claude", "codex":
	default:
		return ""
	}
	file, err := s.w.findProgram(name)
	if err != nil {
		return ""
	}
	if version := packaged(file); version != "" {
		return name + " " + version
	}
	info, err := os.Stat(file)
	if err != nil {
		return ""
	}
	return file + " " + info.ModTime().UTC().String()
}

// packaged is the version of a program that npm installed. Above another one may
// lie the package.json of whatever it was built for.
func packaged(file string) string {
	real, err := filepath.EvalSymlinks(file)
	if err != nil || !strings.Contains(filepath.ToSlash(real), "/node_modules/") {
		return ""
	}
	return acp.Version(real)
}

func digestOf(data []byte) string {
	if len(data) == 0 {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
