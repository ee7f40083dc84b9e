// Package sessiongen writes session files in the shape that Claude Code 2.1.325
// gives them, as large as one likes: for benchmarks, for followers that must
// not lose a line, and for tests that need more than a capture holds.
//
// It is seeded: the same Options give the same bytes. In the captures in
// testdata nine tenths of the bytes are copies of requests, attachments and
// prompt snapshots; here, as in a long working session, they are more than half,
// and the rest is what was said and done, with source code in tool calls and
// results.
package sessiongen

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Options say what to write. The zero value is a session of about 1 MB.
type Options struct {
	Seed    uint64
	Bytes   int64  // stop after the turn that reaches it; zero means 1 MB
	Session string // session id; "" means one made from the seed

	// Hard adds what trips careless readers: U+2028, form feeds, a line of
	// over a megabyte, lines that are no JSON.
	Hard bool

	// Agent makes it the file of the subagent with this id.
	Agent string
	Dir   string    // the working directory; "" means /home/ada/work/proj
	Start time.Time // of the first line; zero means one in 2026
	// Words is how many different words there are beside the usual few; zero
	// means none. Few words make an index look better than it is.
	Words int
}

// Written says what was written.
type Written struct {
	Session                                string
	Lines, Bytes                           int64
	Prompts, Messages, ToolCalls, BadLines int64
	Input, Output, CacheRead, CacheWrite   int64 // once per message
}

// Write writes a session file.
func Write(w io.Writer, o Options) (Written, error) {
	if o.Bytes <= 0 {
		o.Bytes = 1 << 20
	}
	g := &generator{rand: rand.New(rand.NewPCG(o.Seed, 0x5e55)), out: bufio.NewWriterSize(w, 1<<18),
		now: o.Start, hard: o.Hard, agent: o.Agent, dir: o.Dir, mark: fmt.Sprintf("%x", o.Seed)}
	if g.now.IsZero() {
		g.now = time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	}
	if g.dir == "" {
		g.dir = "/home/ada/work/proj"
	}
	if o.Words > 1 {
		g.rare = rand.NewZipf(g.rand, 1.07, 8, uint64(o.Words-1))
	}
	if o.Session == "" {
		o.Session = g.uuid()
	}
	g.session, g.stats.Session = o.Session, o.Session
	g.opening()
	for g.stats.Bytes < o.Bytes && g.err == nil {
		g.turn()
	}
	g.line(`{"type":"cost-state","sessionId":%q,"totalCostUSD":%.4f,"modelUsage":{"claude-opus-5-5":{"inputTokens":%d,"outputTokens":%d,"cacheReadInputTokens":%d,"cacheCreationInputTokens":%d}},"hasUnknownModelCost":false}`,
		g.session, float64(g.stats.Output)*2e-5, g.stats.Input, g.stats.Output, g.stats.CacheRead, g.stats.CacheWrite)
	if g.err == nil {
		g.err = g.out.Flush()
	}
	return g.stats, g.err
}

type generator struct {
	rand    *rand.Rand
	out     *bufio.Writer
	err     error
	now     time.Time
	session string
	parent  string // uuid of the line before
	hard    bool
	agent   string
	dir     string
	mark    string     // tells this file's ids from those of others
	rare    *rand.Zipf // nil: the usual words only
	shape   string     // the hash of the last request shape
	stats   Written
}

func (g *generator) line(format string, args ...any) {
	if g.err != nil {
		return
	}
	n, err := fmt.Fprintf(g.out, format, args...)
	if err == nil {
		err = g.out.WriteByte('\n')
	}
	g.err = err
	g.stats.Lines++
	g.stats.Bytes += int64(n) + 1
}

func (g *generator) uuid() string {
	a, b := g.rand.Uint64(), g.rand.Uint64()
	return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", a>>32, a>>16&0xffff, a&0xfff, b>>52, b&0xffffffffffff)
}

func (g *generator) hash() string {
	return fmt.Sprintf("%016x%016x%016x%016x", g.rand.Uint64(), g.rand.Uint64(), g.rand.Uint64(), g.rand.Uint64())
}

func (g *generator) stamp() string {
	g.now = g.now.Add(time.Duration(1+g.rand.IntN(400)) * time.Millisecond)
	return g.now.Format("2006-01-02T15:04:05.000Z")
}

// common are the members that most lines end with.
func (g *generator) common() (before, after string) {
	id := g.uuid()
	side := fmt.Sprint(g.agent != "")
	before = fmt.Sprintf(`"parentUuid":%q,"isSidechain":%s`, g.parent, side)
	if g.parent == "" {
		before = `"parentUuid":null,"isSidechain":` + side
	}
	if g.agent != "" {
		before += fmt.Sprintf(`,"agentId":%q`, g.agent)
	}
	after = fmt.Sprintf(`"uuid":%q,"timestamp":%q,"userType":"external","entrypoint":"sdk-cli","cwd":%q,"sessionId":%q,"version":"2.1.325","gitBranch":"main"`,
		id, g.stamp(), g.dir, g.session)
	g.parent = id
	return before, after
}

func (g *generator) attachment(kind, members string, rendered int) {
	before, after := g.common()
	text := ""
	if rendered > 0 {
		text = fmt.Sprintf(`"rendered":[{"content":%s}],"renderedRole":"system",`, quote(g.prose(rendered)))
	}
	g.line(`{%s,"attachment":{"type":%q%s},"type":"attachment",%s%s}`, before, kind, members, text, after)
}

func (g *generator) opening() {
	g.attachment("environment", `,"platform":"linux"`, 900)
	g.attachment("model", `,"model":"claude-opus-5-5"`, 400)
	g.attachment("date", `,"date":"2026-11-15"`, 80)
	g.attachment("session_context", "", 600)
	g.attachment("skill_listing", "", 13000)
	g.attachment("agent_listing_delta", "", 3500)
	g.snapshot()
}

func (g *generator) snapshot() {
	g.attachment("prompt_snapshot", `,"systemPrompt":[`+quote(g.prose(24000))+`]`, 0)
	g.shape = g.hash()
	var tools []string
	for _, name := range []string{"Bash", "Edit", "Read", "Write", "Agent", "WebFetch"} {
		tools = append(tools,
			fmt.Sprintf(`{"name":%q,"description":%s,"input_schema":{"type":"object","properties":{"command":{"type":"string","description":%s}},"required":["command"]}}`,
				name, quote(g.prose(3500)), quote(g.prose(300))))
	}
	g.line(`{"type":"api-request-shape","sessionId":%q,"shapeHash":%q,"timestamp":%q,"version":"2.1.325","shape":{"system":[{"type":"text","text":%s}],"tools":[%s]}}`,
		g.session, g.shape, g.stamp(), quote(g.prose(9000)), strings.Join(tools, ","))
}

func (g *generator) turn() {
	g.stats.Prompts++
	prompt := quote(g.prose(40 + g.rand.IntN(800)))
	g.line(`{"type":"queue-operation","operation":"enqueue","timestamp":%q,"sessionId":%q,"content":%s}`, g.stamp(), g.session, prompt)
	g.line(`{"type":"queue-operation","operation":"dequeue","timestamp":%q,"sessionId":%q}`, g.stamp(), g.session)
	before, after := g.common()
	g.line(`{%s,"promptId":%q,"type":"user","message":{"role":"user","content":%s},"promptSource":"sdk","permissionMode":"default",%s}`, before, g.uuid(), prompt, after)
	if g.rand.IntN(2) == 0 {
		g.snapshot()
	}
	for calls := g.rand.IntN(6); calls > 0; calls-- {
		g.request()
		g.answer(true)
	}
	g.request()
	g.answer(false)
	g.line(`{"type":"last-prompt","lastPrompt":%s,"leafUuid":%q,"sessionId":%q}`, prompt, g.parent, g.session)
	g.line(`{"type":"atis-latch","atis":"","sessionId":%q}`, g.session)
	if g.hard {
		g.hardLines()
	}
}

func (g *generator) request() {
	if g.rand.IntN(4) > 0 {
		g.line(`{"type":"api-request-blob","sessionId":%q,"hash":%q,"message":{"role":%q,"content":[{"type":"text","text":%s}]}}`,
			g.session, g.hash(), []string{"user", "system"}[g.rand.IntN(2)], quote(g.prose(3000+g.rand.IntN(12000))))
	}
	g.line(`{"type":"api-request","sessionId":%q,"id":%q,"timestamp":%q,"version":"2.1.325","querySource":"sdk","shapeHash":%q,"params":{"model":"claude-opus-5-5","betas":["claude-code-20250219","interleaved-thinking-2025-05-14","context-management-2025-06-27","effort-2025-11-24"],"max_tokens":128000,"thinking":{"type":"adaptive","display":"updates"}},"keep":%d,"tail":[{"hash":%q},{"hash":%q}],"requestDigest":%q}`,
		g.session, g.uuid(), g.stamp(), g.shape, g.rand.IntN(90), g.hash(), g.hash(), g.hash())
}

func (g *generator) answer(withTools bool) {
	g.stats.Messages++
	in, out := int64(3+g.rand.IntN(900)), int64(20+g.rand.IntN(2000))
	read, write := int64(g.rand.IntN(150_000)), int64(g.rand.IntN(4000))
	g.stats.Input, g.stats.Output = g.stats.Input+in, g.stats.Output+out
	g.stats.CacheRead, g.stats.CacheWrite = g.stats.CacheRead+read, g.stats.CacheWrite+write
	usage := fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":%d,"output_tokens_details":{"thinking_tokens":0},"server_tool_use":{"web_search_requests":0,"web_fetch_requests":0},"service_tier":"standard","iterations":[],"speed":"standard"}`, in, write, read, out)
	id, stop := fmt.Sprintf("msg_gen%s-%08d", g.mark, g.stats.Messages), "end_turn"
	blocks := []string{fmt.Sprintf(`{"type":"thinking","thinking":%s,"signature":%q}`,
		quote(g.prose(100+g.rand.IntN(1500))), g.hash()+g.hash())}
	var results []string
	if withTools {
		stop = "tool_use"
		for n := 1 + g.rand.IntN(2); n > 0; n-- {
			g.stats.ToolCalls++
			tool := fmt.Sprintf("toolu_gen%s-%08d", g.mark, g.stats.ToolCalls)
			blocks = append(blocks, g.toolUse(tool))
			results = append(results, tool)
		}
	} else {
		blocks = append(blocks, `{"type":"text","text":`+quote(g.prose(200+g.rand.IntN(3000)))+`}`)
	}
	for i, b := range blocks {
		before, after := g.common()
		g.line(`{%s,"message":{"id":%q,"type":"message","role":"assistant","model":"claude-opus-5-5","content":[%s],"stop_reason":%q,"stop_sequence":null,"usage":%s},"requestId":"req_gen%s-%d","type":"assistant","apiBlockIndex":%d,%s}`,
			before, id, b, stop, usage, g.mark, g.stats.Messages, i, after)
	}
	for _, tool := range results {
		g.toolResult(tool)
	}
}

func (g *generator) toolUse(id string) string {
	if g.rand.IntN(2) == 0 {
		return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Write","input":{"file_path":"/home/ada/work/proj/x.go","content":%s}}`, id, quote(g.code(500+g.rand.IntN(6000))))
	}
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%s,"description":"Look"}}`, id,
		quote("grep -rn \""+g.word()+"\" . | head -n 20"))
}

func (g *generator) toolResult(id string) {
	before, after := g.common()
	text := quote(g.code(200 + g.rand.IntN(6000)))
	g.line(`{%s,"promptId":%q,"type":"user","message":{"role":"user","content":[{"tool_use_id":%q,"type":"tool_result","content":%s,"is_error":false}]},"toolUseResult":{"stdout":%s,"stderr":"","interrupted":false,"isImage":false},%s}`,
		before, g.uuid(), id, text, text, after)
}

func (g *generator) hardLines() {
	switch g.rand.IntN(12) {
	case 0:
		g.stats.BadLines++
		g.line("this is no JSON \x0c at all")
	case 1:
		before, after := g.common()
		g.line(`{%s,"type":"system","subtype":"informational","content":"a%sb%sc",%s}`, before, "\u2028", "\u0085", after)
	case 2:
		before, after := g.common()
		g.line(`{%s,"type":"system","subtype":"informational","content":%s,%s}`, before, quote(strings.Repeat(g.prose(1000), 1100)), after)
	}
}
