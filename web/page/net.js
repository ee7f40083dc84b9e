// The way to the server: the credential, requests, and the one stream.
//
// The credential is a bearer in sessionStorage: bound to this origin with its
// port, and gone with the tab. A one-time code in the fragment buys it; a new
// tab asks an older one. Of all tabs one holds the stream and passes on what
// it hears, because a browser opens only six connections to a host.

const KEY = 'conclave-token';
const channel = new BroadcastChannel('conclave');
const listeners = new Map(); // kind → Set of functions

let token = null;
let lastId = null;
let hello = null;
let onLocked = () => {};

/** Refused is an answer of the server that says no: its kind, its words, its status. */
export class Refused extends Error {
  constructor(status, kind, text) {
    super(text);
    Object.assign(this, { name: 'Refused', status, kind });
  }
}

/**
 * enter finds a credential: by the code in the fragment, from this tab, or from
 * another tab. It says whether there is one.
 */
export async function enter() {
  channel.addEventListener('message', ({ data }) => heard(data));
  const code = new URLSearchParams(location.hash.slice(1)).get('enter');
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  if (code && (await enterBy(code).catch(() => false))) return true;
  token = sessionStorage.getItem(KEY) ?? (await askTabs());
  if (token) sessionStorage.setItem(KEY, token);
  return token !== null;
}

/** enterBy buys a credential with a one-time code. */
export async function enterBy(code) {
  const answer = await fetch('/api/enter', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ code }),
    credentials: 'omit',
  });
  if (!answer.ok) throw await refusal(answer);
  token = (await answer.json()).token;
  sessionStorage.setItem(KEY, token);
  return true;
}

/** whenLocked names what is done when the server knows the credential no longer. */
export function whenLocked(fn) {
  onLocked = fn;
}

function askTabs() {
  return new Promise((resolve) => {
    const answered = ({ data }) => data?.token && done(data.token);
    const done = (found) => {
      channel.removeEventListener('message', answered);
      resolve(found);
    };
    channel.addEventListener('message', answered);
    channel.postMessage({ ask: 'token' });
    setTimeout(() => done(null), 250);
  });
}

function heard(message) {
  if (message?.ask === 'token' && token) channel.postMessage({ token });
  if (message?.ask === 'hello' && hello) channel.postMessage({ event: hello, id: lastId });
  if (message?.event) take(message.event, message.id);
}

/**
 * ask sends a request with the credential and returns the answer, whole.
 * @param {string} path
 * @param {{method?: string, body?: any, signal?: AbortSignal, headers?: object}} [options]
 */
export async function ask(path, { method, body, signal, headers } = {}) {
  const sent = body === undefined || body instanceof Blob ? body : JSON.stringify(body);
  const answer = await fetch(path, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    body: sent,
    signal,
    credentials: 'omit',
    redirect: 'error',
    headers: {
      Authorization: `Bearer ${token}`,
      ...(typeof sent === 'string' ? { 'Content-Type': 'application/json' } : {}),
      ...headers,
    },
  });
  if (answer.status === 401) {
    sessionStorage.removeItem(KEY);
    token = null;
    onLocked();
  }
  if (!answer.ok) throw await refusal(answer);
  return answer;
}

/**
 * api is ask for JSON: what the server answers, parsed; null without a body.
 * An answer that is a no is thrown as Refused, with its words.
 */
export async function api(path, options) {
  const answer = await ask(path, options);
  const text = await answer.text();
  return text === '' ? null : JSON.parse(text);
}

async function refusal(answer) {
  const body = await answer.json().catch(() => null);
  const error = body?.error ?? {};
  return new Refused(answer.status, error.kind ?? 'environment', error.text ?? `${answer.status} ${answer.statusText}`);
}

/** download fetches with the credential and hands the file to the browser. */
export async function download(path, name) {
  const url = URL.createObjectURL(await (await ask(path)).blob());
  const a = document.createElement('a');
  a.href = url;
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}

/** query writes what is set of params as ?a=b, or nothing. */
export function query(params) {
  const set = new URLSearchParams();
  for (const [key, value] of Object.entries(params))
    if (value !== null && value !== undefined && value !== '') set.set(key, value);
  const text = set.toString();
  return text ? `?${text}` : '';
}

/**
 * on hears events of one kind ("run", "now", "marks", "began", "job", "question",
 * "withdraw", "done", "hello", "lost", "connected", "disconnected") until signal ends.
 */
export function on(kind, fn, signal) {
  if (!listeners.has(kind)) listeners.set(kind, new Set());
  listeners.get(kind).add(fn);
  signal?.addEventListener('abort', () => listeners.get(kind).delete(fn));
}

function take(event, id) {
  if (id != null) lastId = id;
  if (event.kind === 'hello') hello = event;
  for (const fn of [...(listeners.get(event.kind) ?? [])]) {
    try {
      fn(event);
    } catch (err) {
      console.error(err);
    }
  }
}

function tell(event, id) {
  take(event, id);
  channel.postMessage({ event, id });
}

/** listen waits for its turn to hold the stream, and holds it while the tab lives. */
export function listen() {
  channel.postMessage({ ask: 'hello' });
  navigator.locks.request('conclave-stream', async () => {
    for (let wait = 250; token; wait = Math.min(wait * 2, 5000)) {
      const held = await hold().catch(() => false);
      tell({ kind: 'disconnected' });
      if (held) wait = 250;
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  });
}

async function hold() {
  const answer = await ask('/api/stream', { headers: lastId == null ? {} : { 'Last-Event-ID': String(lastId) } });
  tell({ kind: 'connected' });
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return true;
    const blocks = (rest + value).split('\n\n');
    rest = blocks.pop();
    for (const block of blocks) parse(block);
  }
}

function parse(block) {
  let id = null,
    data = '';
  for (const line of block.split('\n')) {
    if (line.startsWith('id:')) id = line.slice(3).trim();
    if (line.startsWith('data:')) data += line.slice(5).trimStart();
  }
  if (data) tell(JSON.parse(data), id);
}
