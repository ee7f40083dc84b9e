#!/usr/bin/env python3
"""Captures anew what other programs write of their sessions (docs/agents.md).

    script/captures.py                  which programs there are
    script/captures.py qwen [DIR]       install it below DIR, run it, say where its files are

Each runs in a HOME of its own, with a clean environment and a dummy key, against a
model server in this process, on 127.0.0.1, that always says the same: a look around
with tools, one of which fails, a second question, and a request that is refused.
Needs Linux, root or user namespaces (HOME is /home/ada within a mount namespace, so
that no other path gets into what is captured), npm, and the network for npm alone.
The model server speaks Anthropic Messages, OpenAI Chat Completions and Gemini."""
import itertools, json, os, re, subprocess, sys, tempfile, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COUNT = itertools.count(1)
WORK = "/home/ada/work/den"


def texts(v):
    if isinstance(v, str):
        return v
    if isinstance(v, list):
        return "\n".join(texts(x) for x in v)
    if isinstance(v, dict):
        if v.get("type") in ("tool_result", "tool_use") or "functionCall" in v or "functionResponse" in v:
            return ""
        return texts(v.get("text") or v.get("content") or v.get("parts") or "")
    return ""


def history(body):
    """(role, text, is_tool_result) of each message."""
    out = []
    for m in body.get("messages") or body.get("contents") or []:
        role = {"model": "assistant"}.get(m.get("role"), m.get("role"))
        parts = m.get("parts") or m.get("content")
        tool = role == "tool" or isinstance(parts, list) and any(
            isinstance(p, dict) and (p.get("type") == "tool_result" or "functionResponse" in p) for p in parts)
        out.append((role, texts(parts), tool))
    return out


def tools(body):
    """name -> properties of its input."""
    out = {}
    for t in body.get("tools") or []:
        if "functionDeclarations" in t:
            for f in t["functionDeclarations"]:
                out[f["name"]] = (f.get("parametersJsonSchema") or f.get("parameters") or {})
        elif "function" in t:
            out[t["function"]["name"]] = t["function"].get("parameters") or {}
        elif "name" in t:
            out[t["name"]] = t.get("input_schema") or t.get("parameters") or {}
    return out


def call(have, names, values):
    for n in names:
        if n in have:
            props, need = have[n].get("properties") or {}, have[n].get("required") or []
            args = {}
            for p, schema in props.items():
                for pattern, v in values:
                    if re.fullmatch(pattern, p) and p not in args:
                        args[p] = [v] if schema.get("type") == "array" else v
            for p in need:
                if p not in args:
                    s = props.get(p, {})
                    args[p] = {"boolean": False, "integer": 1, "number": 1, "array": []}.get(s.get("type"), "as asked")
            return n, args
    return None


READ = ["read", "read_file", "view", "read_files", "read_many_files"]
SHELL = ["bash", "run_shell_command", "execute_command", "run_commands", "shell", "local_shell"]


def answer(body):
    """The reply: dict(thinking, text, calls, error)."""
    h = history(body)
    have = tools(body)
    cwd = WORK
    last = max((i for i, (r, t, tool) in enumerate(h) if r == "user" and not tool and re.search(
        "Look around|What did it say|Fail now", t)), default=None)
    if last is None or not have:
        return dict(text="A look around")
    prompt = h[last][1]
    prompt = max(re.findall("Look around|What did it say|Fail now", prompt), key=prompt.rfind)
    step = sum(1 for r, t, tool in h[last + 1:] if r == "assistant")
    if prompt == "Fail now":
        return dict(error=(400, "the model does not take this"))
    if prompt == "What did it say":
        return dict(finish(have, step, "It said: hello from the notes."), thinking="The file said hello.")
    path = "(absolute_?path|file_?path|path|filePath|paths|files)"
    if step == 0:
        return dict(thinking="First I look at the notes.", text="I read the notes first.",
                    calls=[call(have, READ, [(path, cwd + "/notes.txt")])])
    if step == 1:
        return dict(calls=[call(have, SHELL, [("command|commands", "echo hello && pwd"), ("description", "Say hello")]),
                           call(have, READ, [(path, cwd + "/missing.txt")])])
    done = "There is one file, `notes.txt`; it says hello – „grüß dich“ 🐉."
    return finish(have, step, done)


def finish(have, step, text):
    """Says it, by the tool that a program wants for it."""
    if "submit_and_exit" in have:
        return dict(calls=[call(have, ["submit_and_exit"], [("result|summary|message|text", text)])])
    return dict(text=text)


def usage(n):
    return dict(input=1000 + 100 * n, output=40 + n, cached=600, thoughts=7)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *a):
        pass

    def do_GET(self):
        if self.path.endswith("/models"):
            return self.whole(200, {"object": "list", "data": [{"id": "stub-model", "object": "model"}]})
        self.whole(404, {"error": {"message": "no such thing"}})

    def whole(self, code, obj):
        b = json.dumps(obj).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(b)))
        self.end_headers()
        self.wfile.write(b)

    def stream(self, events):
        b = "".join(events).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Length", str(len(b)))
        self.end_headers()
        self.wfile.write(b)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            body = json.loads(body)
        except ValueError:
            body = {}
        p = self.path.split("?")[0]
        if p.endswith("/count_tokens") or p.endswith(":countTokens"):
            return self.whole(200, {"input_tokens": 100, "totalTokens": 100})
        if not (p.endswith("/messages") or p.endswith("/chat/completions") or "generateContent" in p or "streamGenerateContent" in p):
            return self.whole(404, {"error": {"message": "no such thing"}})
        a = answer(body)
        n = next(COUNT)
        u = usage(n)
        if "error" in a:
            code, what = a["error"]
            if "enerateContent" in p:
                return self.whole(code, {"error": {"code": code, "message": what, "status": "INVALID_ARGUMENT"}})
            return self.whole(code, {"type": "error", "error": {"type": "invalid_request_error", "message": what, "code": code}})
        calls = [c for c in a.get("calls", []) if c]
        if p.endswith("/messages"):
            self.messages(body, n, u, a, calls)
        elif p.endswith("/chat/completions"):
            self.chat(body, n, u, a, calls)
        else:
            self.gemini(p, n, u, a, calls)

    def chat(self, body, n, u, a, calls):
        use = {"prompt_tokens": u["input"], "completion_tokens": u["output"], "total_tokens": u["input"] + u["output"],
               "prompt_tokens_details": {"cached_tokens": u["cached"]},
               "completion_tokens_details": {"reasoning_tokens": u["thoughts"]}}
        base = {"id": f"chatcmpl-stub{n:04d}", "created": 1760000000 + n, "model": body.get("model", "stub-model")}
        tc = [{"index": i, "id": f"call_stub{n:04d}_{i}", "type": "function",
               "function": {"name": c[0], "arguments": json.dumps(c[1])}} for i, c in enumerate(calls)]
        end = "tool_calls" if tc else "stop"
        if not body.get("stream"):
            m = {"role": "assistant", "content": a.get("text")}
            if a.get("thinking"):
                m["reasoning_content"] = a["thinking"]
            if tc:
                m["tool_calls"] = tc
            return self.whole(200, dict(base, object="chat.completion", usage=use,
                                        choices=[{"index": 0, "message": m, "finish_reason": end}]))
        def ev(delta, finish=None, **more):
            return "data: " + json.dumps(dict(base, object="chat.completion.chunk", choices=[
                {"index": 0, "delta": delta, "finish_reason": finish}], **more)) + "\n\n"
        out = [ev({"role": "assistant", "content": ""})]
        if a.get("thinking"):
            out.append(ev({"reasoning_content": a["thinking"]}))
        if a.get("text"):
            half = len(a["text"]) // 2
            out += [ev({"content": a["text"][:half]}), ev({"content": a["text"][half:]})]
        for t in tc:
            out.append(ev({"tool_calls": [t]}))
        out.append(ev({}, end))
        out.append("data: " + json.dumps(dict(base, object="chat.completion.chunk", choices=[], usage=use)) + "\n\n")
        out.append("data: [DONE]\n\n")
        self.stream(out)

    def gemini(self, p, n, u, a, calls):
        parts = []
        if a.get("thinking"):
            parts.append({"text": "**Looking** " + a["thinking"], "thought": True})
        if a.get("text"):
            parts.append({"text": a["text"]})
        for i, c in enumerate(calls):
            parts.append({"functionCall": {"name": c[0], "args": c[1], "id": f"call_stub{n:04d}_{i}"}})
        use = {"promptTokenCount": u["input"], "candidatesTokenCount": u["output"] - u["thoughts"],
               "thoughtsTokenCount": u["thoughts"], "cachedContentTokenCount": u["cached"],
               "totalTokenCount": u["input"] + u["output"]}
        r = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
             "usageMetadata": use, "modelVersion": "gemini-2.5-flash", "responseId": f"stub{n:04d}"}
        if "streamGenerateContent" in p:
            return self.stream(["data: " + json.dumps(r) + "\r\n\r\n"])
        self.whole(200, r)

    def messages(self, body, n, u, a, calls):
        use = {"input_tokens": u["input"] - u["cached"], "output_tokens": u["output"],
               "cache_read_input_tokens": u["cached"], "cache_creation_input_tokens": 0}
        content = []
        if a.get("thinking"):
            content.append({"type": "thinking", "thinking": a["thinking"], "signature": "stub"})
        if a.get("text"):
            content.append({"type": "text", "text": a["text"]})
        for i, c in enumerate(calls):
            content.append({"type": "tool_use", "id": f"toolu_stub{n:04d}_{i}", "name": c[0], "input": c[1]})
        end = "tool_use" if calls else "end_turn"
        msg = {"id": f"msg_stub{n:06d}", "type": "message", "role": "assistant", "model": body.get("model"),
               "content": content, "stop_reason": end, "stop_sequence": None, "usage": use}
        if not body.get("stream"):
            return self.whole(200, msg)
        def ev(kind, **o):
            return f"event: {kind}\ndata: " + json.dumps(dict(o, type=kind)) + "\n\n"
        out = [ev("message_start", message=dict(msg, content=[], stop_reason=None, usage=dict(use, output_tokens=1)))]
        for i, c in enumerate(content):
            if c["type"] == "thinking":
                out += [ev("content_block_start", index=i, content_block={"type": "thinking", "thinking": "", "signature": ""}),
                        ev("content_block_delta", index=i, delta={"type": "thinking_delta", "thinking": c["thinking"]}),
                        ev("content_block_delta", index=i, delta={"type": "signature_delta", "signature": "stub"})]
            elif c["type"] == "text":
                out += [ev("content_block_start", index=i, content_block={"type": "text", "text": ""}),
                        ev("content_block_delta", index=i, delta={"type": "text_delta", "text": c["text"]})]
            else:
                out += [ev("content_block_start", index=i, content_block=dict(c, input={})),
                        ev("content_block_delta", index=i, delta={"type": "input_json_delta", "partial_json": json.dumps(c["input"])})]
            out.append(ev("content_block_stop", index=i))
        out.append(ev("message_delta", delta={"stop_reason": end, "stop_sequence": None}, usage=use))
        out.append(ev("message_stop"))
        self.stream(out)


def write(home, name, value):
    path = os.path.join(home, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))


def provider(url):
    """The configuration of opencode, and of what is made of it."""
    return {"autoupdate": False, "share": "disabled", "model": "stub/stub-model", "small_model": "stub/stub-model",
            "permission": {"bash": "allow", "edit": "allow"},
            "provider": {"stub": {"npm": "@ai-sdk/openai-compatible", "name": "Stub",
                                  "options": {"baseURL": url + "/v1", "apiKey": "dummy-key"},
                                  "models": {"stub-model": {"name": "Stub", "reasoning": True, "tool_call": True}}}}}


def openai(url):
    return {"OPENAI_BASE_URL": url + "/v1", "OPENAI_API_KEY": "dummy-key", "OPENAI_MODEL": "stub-model"}


def gemini(run, home, url):
    write(home, ".gemini/settings.json", {"security": {"auth": {"selectedType": "gemini-api-key"}},
                                          "privacy": {"usageStatisticsEnabled": False}})
    env = {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": "dummy-key", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
    for p, more in talk(["--resume", "latest"]):
        run(["gemini", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", *more, "-p", p, "-o", "json"], env)


def qwen(run, home, url):
    for p, more in talk(["--continue"]):
        run(["qwen", "--auth-type", "openai", "--approval-mode", "yolo", *more, "-p", p], openai(url))


def copilot(run, home, url):
    env = {"COPILOT_OFFLINE": "true", "COPILOT_PROVIDER_BASE_URL": url + "/v1", "COPILOT_MODEL": "stub-model",
           "COPILOT_PROVIDER_API_KEY": "dummy-key", "COPILOT_AUTO_UPDATE": "false"}
    for p, more in talk(["--continue"]):
        run(["copilot", *more, "-p", p, "--allow-all-tools"], env)


def opencode(run, home, url):
    c = dict(provider(url), model="anthropic/claude-sonnet-4-5", small_model="anthropic/claude-sonnet-4-5",
             provider={"anthropic": {"options": {"baseURL": url + "/v1", "apiKey": "dummy-key"}}})
    write(home, ".config/opencode/opencode.json", c)
    env = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    for p, more in talk(["--continue"]):
        run(["opencode", "run", "--format", "json", "--thinking", *more, p], env)


def kilo(run, home, url):
    for name in ("kilo/kilo.json", "kilo/opencode.json", "opencode/opencode.json"):
        write(home, ".config/" + name, provider(url))
    for p, more in talk(["--continue"]):
        run(["kilo", "run", "--auto", "--format", "json", *more, p], {})


def cline(run, home, url):
    run(["cline", "auth", "-p", "openai", "-k", "dummy-key", "-m", "stub-model", "-b", url + "/v1"], {})
    for p in ("Look around", "Fail now"):  # a session cannot be resumed without a terminal
        run(["cline", "-P", "openai", "-t", "60", "--json", "--retries", "1", p], {})
    print("it has left a daemon running: end it by its id")


PROGRAMS = {
    "cline": ("cline@3.0.65", cline),
    "copilot": ("@github/copilot@1.0.102", copilot), "gemini": ("@google/gemini-cli@0.61.0", gemini),
    "kilo": ("@kilocode/cli@7.7.7", kilo), "opencode": ("opencode-ai@1.18.33", opencode),
    "qwen": ("@qwen-code/qwen-code@0.24.4", qwen),
}


def talk(again):
    """The prompts, and what goes on with the session before."""
    return [("Look around", []), ("What did it say?", again), ("Fail now", again)]


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
        print(__doc__)
        for name, (package, _) in sorted(PROGRAMS.items()):
            print(f"    {name:10} {package}")
        return 0 if len(sys.argv) < 2 else 2
    name = sys.argv[1]
    package, drive = PROGRAMS[name]
    base = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="captures-")
    home = os.path.join(base, name, "home")
    write(home, "work/den/notes.txt", "hello from the notes\n")
    os.makedirs(home + "/tmp", exist_ok=True)
    write(base, name + "/package.json", '{"private":true}')
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", package],
                   cwd=os.path.join(base, name), check=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    bin = os.path.join(base, name, "node_modules", ".bin")
    clean = {"PATH": bin + ":/usr/local/bin:/usr/bin:/bin", "HOME": "/home/ada", "TMPDIR": "/home/ada/tmp",
             "LANG": "C.UTF-8", "TERM": "dumb", "SHELL": "/bin/bash", "CI": "1", "NO_COLOR": "1"}

    def run(args, env):
        script = ('mount -t tmpfs tmpfs /home && mkdir /home/ada && mount --bind "$0" /home/ada && '
                  f'cd {WORK} && exec "$@"')
        done = subprocess.run(["unshare", "-m", "sh", "-c", script, home] + args, env=dict(clean, **env),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        print("==", " ".join(args), "→", done.returncode, "\n" + done.stdout[-800:], done.stderr[-400:])

    drive(run, home, url)
    server.shutdown()
    print("captured in", home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
