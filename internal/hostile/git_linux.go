package hostile

import (
	"fmt"
	"os"
	"os/exec"
)

// shell runs a script in the workspace, with git and without anybody's
// settings.
func (p Place) shell(script string) error {
	cmd := exec.Command("/bin/sh", "-ec", p.fill(script))
	cmd.Dir = p.Root
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*", // it belongs to whom the test plays
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", script, err, out)
	}
	return nil
}

// script is a plant that a shell does. Programs that leave a mark are made by
// mark NAME FILE…; conf adds to git's own configuration, where "run NAME" is a
// command that leaves a mark.
func script(text string) func(Place) error {
	const words = `
mark() { name=$1; shift; for f; do mkdir -p "$(dirname "$f")"; printf '#!/bin/sh\ntouch %s\n' "$MARKS/$name" >"$f"; chmod 755 "$f"; done; }
conf() { sed 's,run \([a-z]*\),"touch $MARKS/\1; cat",' >>.git/config; }
`
	return func(p Place) error { return p.shell(words + text) }
}

// gits are git's many ways to run a command or to read elsewhere (W2).
func gits() []Workspace {
	list := []Workspace{embedded(), cloned()}
	for _, g := range []struct{ name, careless, plant string }{
		{"filters", "git status; git diff; git add -A", gitFilters},
		{"fsmonitor", "git status", "git config core.fsmonitor 'touch $MARKS/fsmonitor; cat'"},
		{"hooks", "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x", gitHooks},
		{"pagers and editors", `sh -c "$(git var GIT_PAGER)" </dev/null`, gitPagers},
		{"external diffs and text conversion", "git diff; git log -p --ext-diff", gitDiffs},
		{"included configurations", "git status", gitIncludes},
		{"a lazy fetch", "git log --name-status; git status; git cat-file -p HEAD^{tree}", gitPromisor},
		{"signatures", "git log --show-signature", gitSignature},
		{"aliases and credentials", "git help-me", gitAliases},
		{"objects elsewhere", "git log --all --format=%B", gitAlternates},
		{"a .git that points elsewhere", "git status", gitPointer + "echo gitdir: $OUTSIDE/elsewhere.git >.git"},
		{"a .git that is a link", "git status", gitPointer + "ln -s $OUTSIDE/elsewhere.git .git"},
		{"configuration of a worktree", "git status", gitWorktreeConfig},
		{"a working tree elsewhere", "git diff", gitWorktree},
		{"submodules", "git status", gitSubmodule},
		{"a broken repository", "git log || echo ALIVE", gitBroken},
		{"FIFOs", "test -p .git/config && echo ALIVE", "rm .git/config .git/HEAD .git/index; mkfifo .git/config .git/HEAD .git/index"},
	} {
		list = append(list, Workspace{Name: "git: " + g.name, Touches: []string{".git/"}, plant: script(g.plant),
			Careless: "(" + g.careless + ") 2>/dev/null"})
	}
	return list
}

const (
	gitFilters = `
echo '* filter=evil' >.gitattributes; echo more >>plan.md
conf <<'END'
[filter "evil"]
	clean = run clean
	smudge = run smudge
	process = run process
	required = true
END`
	gitHooks = `
git config core.hooksPath tools/hooks
for h in pre-commit post-index-change reference-transaction post-checkout fsmonitor-watchman; do mark $h tools/hooks/$h .git/hooks/$h; done`
	gitPagers = `
conf <<'END'
[core]
	pager = run pager
	editor = run editor
[sequence]
	editor = run editor
[pager]
	log = run log
	status = run status
	diff = run diff
END`
	gitDiffs = `
echo '*.md diff=evil' >.gitattributes; echo more >>plan.md
conf <<'END'
[diff]
	external = run external
[diff "evil"]
	command = run command
	textconv = run textconv
[interactive]
	diffFilter = run interactive
END`
	gitIncludes = `
mkdir -p tools; git config -f tools/included core.fsmonitor 'touch $MARKS/included; cat'
conf <<'END'
[include]
	path = ../tools/included
[includeIf "gitdir:**"]
	path = ../tools/included
END`
	// A tree is missing, and the remote that would be asked for it is a command.
	gitPromisor = `
git config extensions.partialClone evil; git config core.repositoryFormatVersion 1
git config remote.evil.promisor true; git config remote.evil.url ssh://nobody@127.0.0.1:1/x
git config core.sshCommand 'touch $MARKS/ssh; false'; git config remote.evil.uploadpack 'touch $MARKS/pack; false'
T=$(git rev-parse HEAD^{tree}); rm -f .git/objects/$(echo $T | cut -c1-2)/$(echo $T | cut -c3-)`
	gitSignature = `
mark signer tools/signer
git config log.showSignature true; git config gpg.program tools/signer; git config gpg.ssh.program tools/signer
git cat-file commit HEAD | sed '/^committer/a gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----' >.git/signed
git update-ref refs/heads/main $(git hash-object -t commit -w .git/signed)`
	gitAliases = `
conf <<'END'
[alias]
	status = !touch $MARKS/alias
	log = !touch $MARKS/alias
	help-me = !touch $MARKS/alias
[credential]
	helper = !touch $MARKS/credential
END`
	// The objects are outside, and one of them speaks of the canary.
	gitAlternates = `
cp -r .git $OUTSIDE/objects.git; git -C $OUTSIDE/objects.git config core.bare true
C=$(GIT_DIR=$OUTSIDE/objects.git git commit-tree -p HEAD -m $CANARY HEAD^{tree})
echo $OUTSIDE/objects.git/objects >.git/objects/info/alternates; echo $C >.git/refs/heads/main`
	gitPointer = `
git config core.fsmonitor 'touch $MARKS/elsewhere; cat'
mv .git $OUTSIDE/elsewhere.git
`
	gitWorktreeConfig = `
git config extensions.worktreeConfig true
git config -f .git/config.worktree core.fsmonitor 'touch $MARKS/worktree; cat'`
	gitWorktree = `
git init -q $OUTSIDE/tree; echo was >$OUTSIDE/tree/file
git -C $OUTSIDE/tree add file; git -C $OUTSIDE/tree commit -qm one; echo $CANARY >$OUTSIDE/tree/file
rm -rf .git; cp -r $OUTSIDE/tree/.git .git; git config core.worktree $OUTSIDE/tree`
	gitSubmodule = `
git init -q work/sub; cd work/sub; echo x >f; git add f; git commit -qm x; cd ../..
printf '[submodule "s"]\n\tpath = work/sub\n\turl = ./work/sub\n\tignore = none\n' >.gitmodules
git add -A 2>/dev/null
git -C work/sub config core.fsmonitor 'touch $MARKS/sub; cat'; echo y >work/sub/f
git config status.submoduleSummary true; git config diff.submodule log`
	gitBroken = `
truncate -s 40 .git/index
echo 'ref: refs/heads/../../../../outside/secret.txt' >.git/HEAD`
	intoProject = `
mkdir proj
mv .campaign .conclave campaigns profile-packs conclave.yaml plan.md idea.md work sessions run.zip harbour.zip archive.db proj/
`
	// A plain clone carries a bare repository in a subdirectory, with its
	// configuration.
	gitEmbedded = intoProject + `
cd proj; git init -q --bare b; mv b/* .; rmdir b; rm -rf hooks; echo 'plan.md filter=evil' >.gitattributes
cat >config <<'END'
[core]
	repositoryformatversion = 0
	bare = false
	worktree = .
	fsmonitor = "touch $MARKS/bare; cat"
[filter "evil"]
	clean = "touch $MARKS/bareclean; cat"
END
export GIT_DIR=. GIT_WORK_TREE=.
quiet() { git -c core.fsmonitor=false -c filter.evil.clean=cat "$@"; }
quiet add plan.md .gitattributes; quiet commit -qm x; echo more >>plan.md`
)

// cloned brings records, databases and locks that somebody else has made.
func cloned() Workspace {
	return Workspace{Name: "git: an engine's directory that came with the clone", Touches: []string{".conclave/"},
		plant:    script("git add -f .conclave; git commit -qm two"),
		Careless: "git ls-files .conclave | grep -q . && echo ALIVE"}
}

// embedded moves the plain workspace into a subdirectory that is a repository.
func embedded() Workspace {
	return Workspace{Name: "git: an embedded bare repository", Twin: "embedded", Dir: "proj", Touches: []string{"proj/"},
		plant: script(gitEmbedded), twin: script(intoProject), Careless: "git status"}
}
