// One run as the page holds it: the columns of all its entries, and the texts of
// those that were seen lately. It grows with the run.

import { api, on } from './core.js';

const PIECE = 100;
const KEPT = 60; // pieces
const UNSETTLED = 64; // entries at the end whose order may still change
const AT_ONCE = 20; // texts that are asked for together with the columns of what came

export const FLAG = { prompt: 1, error: 2, call: 4, result: 8, thinking: 16, edit: 32 };

/** TYPES are the letters of the columns, in the order in which filters show them. */
export const TYPES = {
  u: 'user_message',
  a: 'assistant_message',
  t: 'thinking',
  c: 'tool_use',
  r: 'tool_result',
  e: 'error',
  s: 'system_event',
  k: 'token_usage',
  x: 'unknown',
};

const COLUMNS = ['lane', 'at', 'size', 'flag', 'tool', 'tokens', 'call'];

export class RunData {
  /**
   * @param {string} id
   * @param {AbortSignal} signal
   */
  constructor(id, signal) {
    this.id = id;
    this.signal = signal;
    this.base = `/api/run/${encodeURIComponent(id)}`;
    this.pieces = new Map();
    this.asking = new Set();
    this.onGrow = () => {}; // more entries at the end
    this.onAnew = () => {}; // numbers have changed: everything is to be read again
    this.onLoaded = () => {}; // texts from, to
    this.onState = () => {};
  }

  /** open reads what is known of the run, and its columns. */
  async open() {
    const [head, columns] = await Promise.all([
      api(this.base, { signal: this.signal }),
      api(`${this.base}/index`, { signal: this.signal }),
    ]);
    this.head = head;
    this.take(columns);
    on(
      'run',
      (event) => {
        if (event.run === this.id) this.changed(event);
      },
      this.signal,
    );
    return this;
  }

  take(columns) {
    this.epoch = columns.epoch ?? 0;
    this.total = columns.total;
    this.began = columns.began ?? 0;
    this.lanes = columns.lanes ?? [];
    this.tools = columns.tools ?? [];
    this.type = columns.type;
    for (const name of COLUMNS) this[name] = columns[name] ?? [];
    this.kinds = {};
    this.count(0);
  }

  /** count counts the entries of each type from one on. */
  count(from) {
    for (let n = from; n < this.total; n++) this.kinds[this.type[n]] = (this.kinds[this.type[n]] ?? 0) + 1;
  }

  async changed(event) {
    this.onState(event);
    if (event.epoch !== undefined && event.epoch !== this.epoch) return this.anew();
    if (this.growing) {
      this.again = true;
      return undefined;
    }
    this.growing = true;
    try {
      do {
        this.again = false;
        await this.grow();
      } while (this.again);
    } catch {
      /* the next event asks again */
    } finally {
      this.growing = false;
    }
    return undefined;
  }

  async grow() {
    const before = this.total;
    const from = Math.max(0, before - UNSETTLED);
    const [more, texts] = await Promise.all([
      api(`${this.base}/index?from=${from}`, { signal: this.signal }),
      api(`${this.base}/entries?from=${before}&n=${AT_ONCE}`, { signal: this.signal }),
    ]);
    if ((more.epoch ?? 0) !== this.epoch || more.total < before) return this.anew();
    const settled = this.holds(more, from, before);
    if (settled && more.total === before) return undefined;
    this.splice(more, from);
    if (!settled) this.drop(from);
    else if (!this.add(before, texts)) this.forget(Math.floor(before / PIECE));
    return this.onGrow(settled ? before : from, before);
  }

  /** holds says whether what came again is what is held. */
  holds(more, from, to) {
    if (this.type.slice(from, to) !== more.type.slice(0, to - from)) return false;
    return ['lane', 'at', 'size', 'tool'].every((name) => {
      for (let n = from; n < to; n++) if (this[name][n] !== more[name][n - from]) return false;
      return true;
    });
  }

  /** splice puts columns in the place of those from one on. */
  splice(more, from) {
    this.total = more.total;
    this.lanes = more.lanes ?? this.lanes;
    this.tools = more.tools ?? this.tools;
    this.type = this.type.slice(0, from) + more.type;
    for (const name of COLUMNS) {
      if (!more[name]) continue;
      this[name].length = from;
      for (const value of more[name]) this[name].push(value);
    }
    this.kinds = {};
    this.count(0);
  }

  /** drop forgets the texts from one on. */
  drop(from) {
    for (const p of [...this.asking]) if (p >= Math.floor(from / PIECE)) this.asking.delete(p);
    for (const p of [...this.pieces.keys()]) if (p >= Math.floor(from / PIECE)) this.pieces.delete(p);
  }

  /** add keeps the texts of what came, where those before it are kept, too; it says whether that is all. */
  add(before, { items, epoch }) {
    if ((epoch ?? 0) !== this.epoch || items.length < this.total - before) return false;
    for (const item of items) {
      const p = Math.floor(item.n / PIECE);
      const kept = this.pieces.get(p) ?? (item.n % PIECE === 0 ? [] : null);
      if (!kept || kept.length < item.n % PIECE) return false;
      kept[item.n % PIECE] = item;
      this.pieces.set(p, kept);
      this.asking.add(p);
    }
    return true;
  }

  async anew() {
    this.take(await api(`${this.base}/index`, { signal: this.signal }));
    this.pieces.clear();
    this.asking.clear();
    this.onAnew();
  }

  /** forget lets a piece be asked for again: it was not full. */
  forget(piece) {
    this.asking.delete(piece);
  }

  /** entry is what entry n says, if it has been read. */
  entry(n) {
    return this.pieces.get(Math.floor(n / PIECE))?.[n % PIECE];
  }

  /** need reads the texts of some entries, which onLoaded tells. */
  need(from, to) {
    for (let p = Math.floor(from / PIECE); p <= Math.floor(to / PIECE); p++) this.piece(p);
  }

  async piece(p) {
    if (this.asking.has(p)) {
      this.touch(p);
      return;
    }
    this.asking.add(p);
    try {
      const { items, epoch } = await api(`${this.base}/entries?from=${p * PIECE}&n=${PIECE}`, { signal: this.signal });
      if (this.signal.aborted || (epoch ?? 0) !== this.epoch) return;
      this.pieces.set(p, items);
      this.evict();
      this.onLoaded(p * PIECE, p * PIECE + items.length - 1);
    } catch (err) {
      if (this.signal.aborted) return;
      setTimeout(() => this.asking.delete(p), 2000);
      console.warn(err.message);
    }
  }

  touch(p) {
    const kept = this.pieces.get(p);
    if (!kept) return;
    this.pieces.delete(p);
    this.pieces.set(p, kept);
  }

  evict() {
    while (this.pieces.size > KEPT) {
      const [oldest] = this.pieces.keys();
      this.pieces.delete(oldest);
      this.asking.delete(oldest);
    }
  }

  /** whole reads all that one entry says. */
  whole(n) {
    return api(`${this.base}/entry/${n}`, { signal: this.signal });
  }

  /** find asks in which entries some words stand. */
  async find(words, signal) {
    const { hits, more } = await api(`${this.base}/find?q=${encodeURIComponent(words)}`, { signal });
    return { hits: hits ?? [], more };
  }

  /** atTime is when entry n was, in milliseconds since 1970. */
  atTime(n) {
    return this.began + this.at[n];
  }

  /** nearest is the entry of a lane whose time is nearest to one. */
  nearest(at, lane) {
    let best = 0,
      distance = Infinity;
    for (let n = 0; n < this.total; n++) {
      if (lane !== undefined && this.lane[n] !== lane) continue;
      const d = Math.abs(this.at[n] - at);
      if (d < distance) [best, distance] = [n, d];
    }
    return best;
  }

  /** laneNumber is a lane's place by its name, or -1. */
  laneNumber(name) {
    return this.lanes.indexOf(name);
  }
}

/** isMain says whether a lane is the run's own agent. */
export const isMain = (name) => name === 'main' || name === '' || name === undefined;

/** laneName is how a lane is called: a subagent by what it was called, without its prefix. */
export const laneName = (name) => String(name ?? '').replace(/^subagent:/, '');
