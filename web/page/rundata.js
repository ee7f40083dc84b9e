// One run as the page holds it: the columns of all its entries, and the texts of
// those that were seen lately. It grows with the run: columns may be longer than
// total, and only what is before total counts.

import { askRun, PIECE, wasRead } from './ahead.js';
import { columnsOf, widened } from './columns.js';
import { api, ask, on, query } from './core.js';

const KEPT = 60; // pieces
const UNSETTLED = 64; // entries at the end whose order may still change
const AT_ONCE = 20; // texts that are asked for together with the columns of what came

export const FLAG = { prompt: 1, error: 2, call: 4, result: 8, thinking: 16, edit: 32 };
const FLAGS = 256;

/** CODE is the number of a letter in the column of types. */
export const CODE = (letter) => letter.charCodeAt(0);

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
    this.at = []; // until all() has come
    this.onGrow = () => {}; // more entries at the end
    this.onAnew = () => {}; // numbers have changed: everything is to be read again
    this.onLoaded = () => {}; // texts from, to
    this.onState = () => {};
  }

  /** open reads what is known of the run, the texts to begin with, and the columns to lay it out. */
  async open(at) {
    const early = at === undefined ? wasRead(this.id) : null;
    let changed = null;
    const heard = (event) => {
      if (this.head) this.changed(event);
      else changed = event;
    };
    on('run', (event) => event.run === this.id && heard(event), this.signal);
    on('connected', () => heard({}), this.signal); // what came before nobody has told here
    const anew = () => askRun(this.id, at, this.signal);
    const [head, columns] = await (early?.catch(anew) ?? anew());
    this.take(columnsOf(columns));
    this.head = head;
    const { window: first } = head;
    if (first.epoch === this.epoch && first.items.length > 0) {
      this.pieces.set(first.from / PIECE, first.items);
      const whole = first.items.length >= Math.min(PIECE, this.total - first.from); // else more came in between
      if (whole) this.asking.add(first.from / PIECE);
    }
    if (changed) this.changed(changed);
    return this;
  }

  /** index asks for the columns of the entries from one on, or for a part of them. */
  async index(from, part) {
    const answer = await ask(`${this.base}/index${query({ from, part })}`, { signal: this.signal });
    return columnsOf(await answer.arrayBuffer());
  }

  take({ epoch, total, began, lanes, tools, counts, column }) {
    Object.assign(this, { epoch, total, began, lanes, tools, rest: null }, column);
    this.counts = new Uint32Array(128 * FLAGS);
    this.count(counts);
  }

  /** count adds how many entries came of each type with each flags. */
  count(counts) {
    for (const [type, flag, n] of counts) this.counts[type * FLAGS + flag] += n;
  }

  /** many is how many entries of a type there are, or of those that have one of some flags. */
  many(type, flags) {
    let sum = 0;
    for (let flag = 0; flag < FLAGS; flag++)
      if (flags === undefined || flag & flags) sum += this.counts[type * FLAGS + flag];
    return sum;
  }

  /** all reads the columns that are not needed to lay the run out: times, tokens, tools. */
  all() {
    this.rest ??= this.index(0, 'rest').then(({ epoch, total, column }) => {
      if (epoch !== this.epoch || total < this.total) return this.anew();
      Object.assign(this, column);
      return undefined;
    });
    return this.rest;
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
        await this.all();
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
      this.index(from),
      api(`${this.base}/entries?from=${before}&n=${AT_ONCE}`, { signal: this.signal }),
    ]);
    if (more.epoch !== this.epoch || more.total < before) return this.anew();
    const settled = this.holds(more, from, before);
    if (settled && more.total === before) return undefined;
    this.splice(more, from);
    if (!settled) this.drop(from);
    else if (!this.add(before, texts)) this.forget(Math.floor(before / PIECE));
    return this.onGrow(settled ? before : from, before);
  }

  /** holds says whether what came again is what is held. */
  holds(more, from, to) {
    return ['type', 'lane', 'at', 'size', 'tool'].every((name) => {
      for (let n = from; n < to; n++) if (this[name][n] !== more.column[name][n - from]) return false;
      return true;
    });
  }

  /** splice puts columns in the place of those from one on. */
  splice(more, from) {
    for (let n = from; n < this.total; n++) this.counts[this.type[n] * FLAGS + this.flag[n]]--;
    const { total, lanes, tools } = more;
    Object.assign(this, { total, lanes, tools });
    for (const [name, column] of Object.entries(more.column)) {
      if (this[name].length < total) this[name] = widened(this[name], total * 2);
      this[name].set(column, from);
    }
    this.count(more.counts);
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
    this.take(await this.index(0));
    this.rest = Promise.resolve();
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

  /** lasted is when the last of them was, in milliseconds since it began. */
  get lasted() {
    let most = 0;
    for (let n = 0; n < this.total; n++) if (this.at[n] > most) most = this.at[n];
    return most;
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
