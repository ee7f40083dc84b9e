#!/bin/sh
# Writes one of everything that a conclave program writes:
#
#	make.sh CONCLAVE FIXTURES DIR OUT
#
# CONCLAVE is the program, FIXTURES the repository's testdata/fixtures, DIR a
# directory that does not exist yet (/srv/v0 for the files beside this script:
# the test replaces that name by its own), OUT where the archives go. No key, no
# network, no model. All paths are absolute. It needs strace. A bundle tells of the
# machine: run it as `env -i unshare -C -u sh -c "hostname harbour; exec sh make.sh …"`.
set -eu
conclave=$1 fixtures=$2 dir=$3 out=$4
mkdir -p "$dir"
export HOME="$dir/home" XDG_CONFIG_HOME="$dir/config" XDG_DATA_HOME="$dir/data" XDG_CACHE_HOME="$dir/cache"
export SERVICE_TOKEN=Zq81mmTr7710aa LANG=C.UTF-8
export PATH=/usr/bin:/bin
mkdir -p "$HOME/.claude/projects" "$HOME/.codex/sessions" "$XDG_CONFIG_HOME/conclave"

conclave() { echo "\$ conclave $*"; "$conclave" "$@"; }
no() { if conclave "$@"; then echo "it should have said no: $*"; exit 1; fi; }

# killed COMMAND… runs until the records of $run hold every line of $words, then pulls
# the plug: SIGKILL to the program, in the middle of a turn.
killed() {
	echo "\$ conclave $*  # killed"
	"$conclave" "$@" &
	pid=$! tries=100
	until recorded; do
		tries=$((tries - 1))
		if [ $tries = 0 ]; then kill -9 $pid; echo "it never said: $words"; exit 1; fi
		sleep 0.1
	done
	kill -9 $pid
	wait $pid || true
}
recorded() { echo "$words" | while read -r w; do grep -aqs -- "$w" .conclave/records/$run*.record || exit 1; done; }

cat >"$XDG_CONFIG_HOME/conclave/config.yaml" <<'EOT'
# The person's own file.
lower: {player: fenced}
budget: {tokens: 1000000}
EOT
cat >"$XDG_CONFIG_HOME/conclave/redact.txt" <<'EOT'
# my own
GREEN-\d+
EOT

# --- harbour: a whole quest --------------------------------------------------
mkdir -p "$dir/harbour/guide"
cd "$dir/harbour"
cat >conclave.yaml <<'EOT'
agents:
  gandalf: {agent: scripted, script: party.script}
  guardian: {agent: scripted, script: party.script}
  dragon: {agent: scripted, script: party.script}
EOT
cat >party.script <<'EOT'
as gandalf
turn on wants to begin a quest
  think Night, and the tide.
  say What would a sailor look up first?
turn on lights
  say So be it.
turn on structured form
  answer {"title":"A guide to the harbour","narrative":"Sailors who come at night need a guide that they can trust.","criteria":[{"text":"Every pier is described","sort":"deliverable"},{"text":"I know the tides","sort":"transformation"}],"dragon":"A guide that nobody dares to follow."}
as guardian
turn on "outline"
  read work/guide/piers.md
  usage 30 15
  say Not yet: pier two has no heading.
  tool submit_verdict {"verdict":"Blocked","summary":"one pier is missing","gaps":["pier two is missing"],"conditions":[]}
turn on "final"
  say Ready.
  tool submit_verdict {"verdict":"Approved","summary":"ready","gaps":[],"conditions":[]}
as dragon
turn
  read work/guide/piers.md
  say Now it stands.
  tool submit_verdict {"verdict":"Dragon Slain","summary":"all is there","criteria":[{"number":1,"status":"met","evidence":"guide/piers.md:1"},{"number":2,"status":"not met","evidence":"nothing shows it"}]}
EOT
printf '# Pier one\n' >guide/piers.md
printf 'The lights, and the piers.\n\n\nYes\n' >start.txt
printf 'That tides wait for nobody.\n' >reflect.txt
conclave init --yes
conclave pack install fantasy --only cat,owl
conclave pack install neutral --only owl
conclave profile set bear --name 'The Pilot' --emoji '⚓'
conclave trust --yes
conclave council
conclave quest start --answers start.txt --message 'A guide to the harbour.'
conclave consult cat --message 'Where could it break?'
no checkpoint --stage outline --expect 'Every pier has a heading.' guide/
conclave quest continue --choose 'address the gaps'
printf '# Pier two\n' >>guide/piers.md
conclave quest log 'Wrote pier two'
conclave checkpoint --stage final guide/
conclave confront guide/
conclave debrief --answers reflect.txt
conclave trust --yes

# --- parting: a quest that was put away --------------------------------------
mkdir -p "$dir/parting"
cd "$dir/parting"
printf '# Counter\n\nCounts lines.\n' >README.md
printf 'There is a file README.md\nEverybody who counts.\nNobody reads it.\n\nYes\n' >start.txt
conclave quest start --mode ship --answers start.txt --message 'Publish the counter.'
conclave confront README.md
conclave quest archive
conclave pack install neutral --only owl
# Killed while the profiles are exchanged: a journal and a staged set are left.
strace -f -qq -o /dev/null -e trace=renameat2 -e inject=renameat2:signal=KILL "$conclave" \
	pack install fantasy --only cat && exit 1

# --- severed: a consultation, killed in its second turn -----------------------
mkdir -p "$dir/severed"
cd "$dir/severed"
cp ../parting/start.txt ../parting/README.md .
conclave quest start --mode ship --answers start.txt --message 'Publish the counter.'
printf 'agents:\n  default: {agent: scripted, script: party.script}\n' >conclave.yaml
printf 'as cat\nturn on safe\n  say Mostly.\nturn on rest\n  say The first half,\n  stall\n' >party.script
printf 'as cat\nturn on safe\n  say Mostly.\nturn on rest\n  say Now I remember the rest.\n' >mended.script
printf 'And the rest?\n' >talk.txt
conclave trust --yes
run='' words='And the rest'
killed consult cat --message 'Is it safe?' --answers talk.txt

# --- weir: the adventure, played, kept, restored, forked, written out ---------
mkdir -p "$dir/weir"
cd "$dir/weir"
conclave table new weir --adventure
mkdir -p campaigns/weir/tmp
echo 'Left behind.' >campaigns/weir/tmp/bram-oatley-response.md # goes to stale/
conclave table play weir --auto --max-turns 1
conclave table save weir dusk
conclave table play weir --auto --max-turns 1
conclave table restore weir dusk
conclave table fork weir weir-two --from dusk
conclave table roll --table weir --who bram-oatley --visibility sealed 1d20
conclave table export weir --format log --as gm -o gm.md
conclave table export weir --format html -o story.html
conclave table export weir --player-edition edition --as bram-oatley
conclave table new own --adventure
no table say own --as gm '/ask bram: Do you go in?'
conclave table say own --as gm 'He goes in.'

# --- mill: a cycle, killed while a player answers ------------------------------
mkdir -p "$dir/mill/campaigns/ash/party"
cd "$dir/mill"
cat >conclave.yaml <<'EOT'
agents:
  default: {agent: scripted, script: gm.script}
  player.tilda-brannock: {agent: scripted, script: tilda.script}
  player.gideon-harrowmoor: {agent: scripted, script: gideon.script}
  journal-keeper: {agent: scripted, script: keeper.script}
EOT
printf '# Tilda Brannock\n\nBond: the sea took her brother Finn.\n' >campaigns/ash/party/tilda-brannock.md
printf '# Gideon Harrowmoor\n' >campaigns/ash/party/gideon-harrowmoor.md
printf 'The miller did it.\n' >campaigns/ash/story-state.md
printf 'The mill is flooded.\n' >campaigns/ash/party-knowledge.md
cat >gm.script <<'EOT'
turn on Event: session-start
  say <<END
Water drips.
[ROLL: 1d20 | gm | who hears it | sealed]
END
turn on Event: rolls
  say <<END
[FILE: tmp/gm-context.md]
## Expecting
A look.
[/FILE]
[FILE: tmp/tilda-brannock-prompt.md]
---
request_type: QUICK_REACTION
---

## Scene
The mill.

## Just Happened
A splash.

## Request
React.
[/FILE]
[FILE: tmp/gideon-harrowmoor-prompt.md]
---
request_type: QUICK_REACTION
---

## Scene
The mill.

## Just Happened
A splash.

## Request
React.
[/FILE]
[AWAIT_AI_PLAYERS: tilda-brannock, gideon-harrowmoor]
END
turn on Event: responses
  say They look down together.
EOT
printf 'always\n  say I hold the lantern.\n' >tilda.script
printf 'always\n  say I hold the lantern.\n' >mended.script
printf 'always\n  say I try the hatch.\n' >gideon.script
printf 'always\n  error the keeper is ill\n' >keeper.script
cp -r campaigns/ash campaigns/oak
conclave trust --yes
conclave table play oak --auto --max-turns 1 # its journals are parked
printf 'always\n  say I hold the lantern,\n  stall\n' >tilda.script
conclave trust --yes
run=table.ash words='text":"I try the hatch
turn.message.*player.tilda-brannock'
killed table play ash --auto --max-turns 1

# --- ledger: sessions of other programs, their bundles and archive -------------
mkdir -p "$dir/ledger"
cd "$dir/ledger"
cp -r "$fixtures/claude/01-simple/home/.claude/projects/." "$HOME/.claude/projects/"
cp -r "$fixtures/claude/04-subagents-hooks/home/.claude/projects/." "$HOME/.claude/projects/"
cp -r "$fixtures/codex/03-command-execution/codex_home/sessions/." "$HOME/.codex/sessions/"
mkdir -p "$HOME/.claude/projects/-p"
cat >"$HOME/.claude/projects/-p/33333333-3333-4333-8333-333333333333.jsonl" <<'EOT'
{"type":"user","uuid":"a1","sessionId":"33333333-3333-4333-8333-333333333333","timestamp":"2026-02-18T11:00:00.000Z","cwd":"/p","version":"2.1.325","message":{"role":"user","content":"the sky over GREEN-9\nDB_PASSWORD=hunter22 and Zq81mmTr7710aa"}}
EOT
printf 'agents:\n  default: {agent: offline}\n' >conclave.yaml
conclave pack new lighthouse --theme Lighthouse
conclave pack export neutral neutral.zip
conclave pack export neutral neutral.tar.gz
conclave record import "$HOME/.claude/projects" "$HOME/.codex/sessions"
echo "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"x\",\"transcript_path\":\"$HOME/.claude/projects/-p/33333333-3333-4333-8333-333333333333.jsonl\"}" |
	conclave record hook
conclave record list
conclave bundle create claude-33333333-3333-4333-8333-333333333333 --out redacted.zip
conclave bundle create claude-33333333-3333-4333-8333-333333333333 --out plain.zip --no-redact
conclave bundle create claude-33333333-3333-4333-8333-333333333333
conclave export plain.zip -o run.md
conclave trust --yes
conclave archive refresh
conclave search lantern || true
conclave usage
# The first version of the trust file had no number; it is still read.
sum() { printf %s "$1" | sha256sum | cut -c1-64; }
yes=$(sum "$(sum conclave.yaml)$(sha256sum ../severed/conclave.yaml | cut -c1-64)")
echo "{\"$dir/severed\":{\"since\":\"2026-01-02T03:04:05Z\",\"digest\":\"$yes\"}}" >"$XDG_DATA_HOME/conclave/trust-v1.json"
conclave query redacted.zip 'SELECT entry_type, count(*) FROM transcript GROUP BY 1'

# --- one archive each, with modes and times, which git would lose -------------
cd "$dir"
for w in *; do
	tar --format=pax --pax-option=delete=atime,delete=ctime --sort=name \
		--owner=0 --group=0 --numeric-owner -c "$w" | gzip -9n >"$out/$w.tar.gz"
done
