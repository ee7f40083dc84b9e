package hostile

import "time"

// line is how one command is run: real arguments, and what a person types.
type line struct {
	args  []string
	typed string
	// waits says that the command ends when it is told to. It is interrupted
	// when it shows this, or has had its time.
	waits  string
	within time.Duration // more than usual, for a real agent
	// quest is a text of quest.md that it needs to get to its work.
	quest string
}

// look is what is done in a room: everything there is read.
const look = `(find . -type f -size -100k -exec head -q -c 4096 {} + ; env; ls -la) 2>&1 | LC_ALL=C tr -cd "[:print:]\n"`

// lines has a line for every command that the program has.
var lines = map[string]line{
	"archive rebuild":       {args: []string{"--archive", "archive.db"}},
	"archive refresh":       {args: []string{"--archive", "archive.db"}},
	"archive restore":       {args: []string{RecordID, "--archive", "archive.db", "-o", "restored.jsonl"}},
	"archive status":        {args: []string{"--archive", "archive.db", "--verify"}},
	"agents":                {},
	"agents try":            {args: []string{"cat"}},
	"audit":                 {},
	"audit receipt":         {args: []string{"receipt.json", "--work", ".", "--signers", "signers"}},
	"bundle create":         {args: []string{RecordID, "--out", "made.zip", "--with-workspace"}},
	"bundle list":           {},
	"bundle open":           {args: []string{bundleFile, "--extract", "unpacked"}},
	"bundle prune":          {args: []string{"--keep", "1"}},
	"bundle verify":         {args: []string{bundleFile}},
	"checkpoint":            {args: []string{"--stage", "plan", "plan.md", "work"}, typed: "\n\n"},
	"completion bash":       {},
	"completion fish":       {},
	"completion powershell": {},
	"completion zsh":        {},
	"confront":              {args: []string{"plan.md", "work"}, typed: "\n\n"},
	"consult":               {args: []string{"cat", "-m", "@idea.md"}, typed: "\n\n\n"},
	"council":               {args: []string{"-m", "Could a newcomer keep this?"}, typed: "\n\n"},
	"debrief":               {args: []string{"-m", "What did we learn?"}, typed: "\n\n", quest: debriefQuest},
	"demo":                  {},
	"doctor":                {},
	"export":                {args: []string{RecordID, "--archive", "archive.db"}},
	"gate":                  {args: []string{"--criteria", "The plan is whole.", "--work", "plan.md", "--work", "work"}},
	"gate calibrate":        {args: []string{"--only", "slug-*"}},
	"help":                  {args: []string{"table"}},
	"hook collect":          {args: []string{session}},
	"hook done":             {typed: `{"hook_event_name":"Stop","stop_hook_active":false}` + "\n"},
	"hook session":          {typed: `{"hook_event_name":"SessionStart","transcript_path":"/nowhere.jsonl"}` + "\n"},
	"init":                  {typed: "y\n"},
	"install":               {args: []string{"codex", "--dry-run"}},
	"mcp": {typed: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"probe","version":"1"}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"consult","arguments":` +
		`{"who":"cat","message":"@idea.md"}}}` + "\n"},
	"pack export":    {args: []string{"harbour", "exported"}},
	"pack install":   {args: []string{"harbour", "--force"}, typed: "y\n"},
	"pack list":      {},
	"pack new":       {args: []string{"deep-sea"}},
	"pack preview":   {args: []string{packFile}},
	"pack show":      {args: []string{"harbour"}},
	"pack undo":      {args: []string{"--force"}},
	"pack validate":  {args: []string{"harbour", packFile}},
	"policy":         {args: []string{"cat"}},
	"profile list":   {},
	"profile remove": {args: []string{"cat", "--force"}},
	"profile set":    {args: []string{"cat", "--from", "harbour", "--force"}},
	"profile show":   {args: []string{"cat"}},
	"query":          {args: []string{bundleFile, RecordID, session, "SELECT * FROM transcript", "--table"}},
	"quest archive":  {quest: debriefQuest},
	"quest continue": {typed: "\n\n"},
	"quest log":      {args: []string{"A pier stands"}},
	"quest return":   {},
	"quest show":     {},
	"quest start":    {args: []string{"--mode", "ship", "-m", "@idea.md"}, typed: "2\ny\n\n\n"},
	"quest status":   {},
	"record hook": {typed: `{"session_id":"` + Session + `","transcript_path":"` + session +
		`","hook_event_name":"PreToolUse","cwd":"."}` + "\n"},
	"record import":       {args: []string{"sessions"}},
	"record install":      {args: []string{"--print"}},
	"record list":         {},
	"record show":         {args: []string{RecordID}},
	"record status":       {},
	"record tail":         {args: []string{RecordID}, waits: "lantern"},
	"record watch":        {args: []string{"sessions"}, waits: "\n"},
	"room enter":          {args: []string{"cat", "plan.md"}, typed: look + "\n", waits: "TERM="},
	"room run":            {args: []string{"cat", "--work", "work", "--", "sh", "-c", look}},
	"room show":           {args: []string{"dragon", "plan.md", "work"}},
	"search":              {args: []string{"lantern", "--archive", "archive.db"}},
	"table audit":         {args: []string{"weir"}},
	"table chat":          {args: []string{"weir", "bram-oatley", "--message", "Who are you?"}},
	"table dice verify":   {args: []string{"weir"}},
	"table dice override": {args: []string{"weir", "1", "15"}},
	"table dice rotate":   {args: []string{"weir"}},
	"table dice seal":     {args: []string{"weir"}},
	"table dice seed":     {args: []string{"weir", "herons"}},
	"table end":           {args: []string{"weir"}},
	"table export":        {args: []string{"weir", "--as", "gm"}},
	"table fork":          {args: []string{"weir", "weir-two", "--from", "dusk"}},
	"table journal":       {args: []string{"weir", "bram-oatley"}},
	"table list":          {},
	"table new":           {args: []string{"ashfall", "--character", "Tilda Brannock"}},
	"table play":          {args: []string{"weir", "--as", "bram-oatley"}, typed: "I look at the letter.\n", waits: "What do you do?"},
	"table rename":        {args: []string{"weir", "bram-oatley", "bram-the-elder"}},
	"table restore":       {args: []string{"weir", "dusk"}},
	"table resume":        {args: []string{"weir", "--as", "bram-oatley"}},
	"table reveal":        {args: []string{"weir", "2"}},
	"table roll":          {args: []string{"--table", "weir", "--who", "bram-oatley", "1d20+3 vs 15"}},
	"table save":          {args: []string{"weir", "dawn"}},
	"table say":           {args: []string{"weir", "--as", "bram-oatley", "I open the hatch."}},
	"table seats":         {args: []string{"weir", "--away", "bram-oatley"}},
	"table signal":        {args: []string{"weir", "bram-oatley"}, waits: "Waiting for"},
	"table status":        {args: []string{"weir"}},
	"table validate":      {args: []string{"weir"}},
	"transcript check":    {args: []string{".conclave/records/" + RecordID + ".record"}},
	"transcript map":      {args: []string{"sessions"}, waits: "transcript.entry"}, // it prints for as long as it is given something
	"transcript summary":  {args: []string{".conclave/records/" + RecordID + ".record"}},
	"transcript verify":   {},
	"trust":               {typed: "y\n"},
	"trust login":         {args: []string{"claude"}, typed: "n\n"},
	"usage":               {args: []string{"--by", "model", ".conclave/records", "sessions"}},
	"uninstall":           {args: []string{"claude", "--dry-run"}},
	"version":             {},
	"web":                 {args: []string{"--no-open", "--addr", "127.0.0.1:0"}, waits: "#enter="},
}

// debriefQuest is a quest whose Dragon is slain.
const debriefQuest = "phase: 6"
