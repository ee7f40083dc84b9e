package judging

import (
	"bytes"
	"errors"
	"fmt"

	"conclave/policy"
	"conclave/quest"
	"conclave/room"
)

// WorkDir is where the work lies in a room, below its working directory.
const WorkDir = "work"

// ErrNoWork: work was named for a role that is given none.
var ErrNoWork = errors.New("is given no work")

// WorkGrants copies the named work, file by file, as it was when it was listed.
func WorkGrants(role policy.Role, work *quest.Work) ([]room.Grant, error) {
	kind := policy.FinalWork
	if role == policy.Guardian {
		kind = policy.StageWork
	}
	if d := policy.Decide(role, kind); !d.Allow {
		return nil, fmt.Errorf("%s: %w: %s", role, ErrNoWork, d.Reason)
	}
	var out []room.Grant
	for _, file := range work.Files {
		var b bytes.Buffer
		if err := work.Copy(file, &b); err != nil {
			return nil, err
		}
		out = append(out, room.Grant{Kind: string(kind), Name: WorkDir + "/" + file.Path, Bytes: b.Bytes()})
	}
	return out, nil
}
