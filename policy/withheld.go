package policy

import (
	"io"
	"slices"
	"strings"
)

// opener reads the content of the path that is asked about.
type opener = func() (io.ReadCloser, error)

// Withheld is the only answer to whether a path of the project may be in a
// role's room, and what it is: for the party as a part of the view of the
// project, for an evaluator as a part of the named work. The path is relative
// to the project's root, with forward slashes; dir says that it is a
// directory, whose answer holds for everything below it. Where the content
// decides it is read through open; what cannot be read is withheld.
func Withheld(role Role, rel string, dir bool, open opener) (Kind, Decision) {
	kind := classify(rel, dir, open)
	if kind == Workspace {
		kind = shownAs(role)
		return kind, Decide(role, kind)
	}
	d := Decide(role, kind)
	if d.Allow {
		d = Decision{Reason: "what the role may know of it is handed over apart from the project", Source: bySection}
	}
	return kind, d
}

// shownAs is what the ordinary files of a project are to a role.
func shownAs(role Role) Kind {
	switch role {
	case Guardian:
		return StageWork
	case Dragon:
		return FinalWork
	}
	return Workspace
}

// View is Withheld for one role, as rooms ask it: why a path stays outside,
// and nothing for one that is shown. The person may have granted credentials
// by name, and nothing but those can be granted so.
func View(role Role, granted []string) func(rel string, dir bool, open opener) string {
	return func(rel string, dir bool, open opener) string {
		kind, d := Withheld(role, rel, dir, open)
		if d.Allow || kind == Credentials && Grants(granted, rel, dir) && Decide(role, shownAs(role)).Allow {
			return ""
		}
		return string(kind) + ": " + d.Reason
	}
}

// Grants reports whether a path is among those that the person granted by
// name, is below one, or is a directory on the way to one.
func Grants(granted []string, rel string, dir bool) bool {
	return slices.ContainsFunc(granted, func(g string) bool {
		return rel == g || strings.HasPrefix(rel, g+"/") || dir && strings.HasPrefix(g, rel+"/")
	})
}
