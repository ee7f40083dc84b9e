// A list of which only what is seen is in the document: the same at one row and
// at a hundred thousand.
//
// Heights are guessed until a row has been drawn, then measured; a Fenwick tree
// adds them up. The place is kept as an anchor (a row and how far into it), so
// nothing that is measured, added or loaded above moves what is being read. A
// list higher than a browser can make an element is scaled: small movements go
// pixel by pixel, great ones by proportion.
//
// For those who listen it is a feed: each row says its number and how many
// there are, one row at a time can be reached by Tab, and the row that has the
// focus stays in the document wherever one scrolls.

import { afterPaint, h } from './dom.js';

const TALLEST = 8e6;
const MARGIN = 600; // pixels drawn beyond the edges
const CONTROLS = 'a[href], button, input, select, textarea, summary';

/**
 * Heights adds up the heights of rows: any sum and any place in log n; more can be
 * added at the end. Until something else is known of them, all rows are alike: what
 * is kept is by how much each differs.
 */
export class Heights {
  constructor(count, about) {
    Object.assign(this, { count, about, sum: 0 });
    this.room(Math.max(64, count));
  }

  room(rows) {
    const { by, tree } = this;
    this.by = new Float64Array(rows);
    this.tree = new Float64Array(rows + 1);
    if (by) this.by.set(by);
    if (tree) this.tree.set(tree);
  }

  get total() {
    return this.count * this.about + this.sum;
  }

  /** size is the height of row i. */
  size(i) {
    return this.about + this.by[i];
  }

  /** all takes a height for every row. @param {Float64Array} sizes */
  all(sizes) {
    const { by, tree, about, count } = this;
    tree.fill(0);
    let sum = 0;
    for (let i = 1; i <= count; i++) {
      const differs = sizes[i - 1] - about;
      by[i - 1] = differs;
      sum += differs;
      tree[i] += differs;
      const up = i + (i & -i);
      if (up <= count) tree[up] += tree[i];
    }
    this.sum = sum;
  }

  push(size) {
    if (this.count === this.by.length) this.room(this.count * 2);
    const at = ++this.count;
    const differs = size - this.about;
    this.by[at - 1] = differs;
    this.tree[at] = differs + this.differ(at - 1) - this.differ(at - (at & -at));
    this.sum += differs;
  }

  /** cut leaves the first rows only. */
  cut(count) {
    this.sum = this.differ(count);
    this.count = count;
  }

  set(i, size) {
    const more = size - this.size(i);
    if (more === 0) return;
    this.by[i] += more;
    this.sum += more;
    for (let k = i + 1; k <= this.count; k += k & -k) this.tree[k] += more;
  }

  /** differ is by how much all rows before i differ. */
  differ(i) {
    let sum = 0;
    for (let k = i; k > 0; k -= k & -k) sum += this.tree[k];
    return sum;
  }

  /** before is the height of all rows before i. */
  before(i) {
    return i * this.about + this.differ(i);
  }

  /** at is the row at a height, and how far into it. */
  at(y) {
    let k = 0;
    let rest = Math.max(0, y);
    for (let step = 1 << Math.floor(Math.log2(Math.max(1, this.count))); step > 0; step >>= 1) {
      if (k + step > this.count) continue;
      const high = step * this.about + this.tree[k + step];
      if (high > rest) continue;
      k += step;
      rest -= high;
    }
    if (k < this.count) return { i: k, dy: rest };
    return { i: Math.max(0, this.count - 1), dy: this.count ? this.size(this.count - 1) : 0 };
  }
}

/** belowTheWindow says whether an element begins below what is seen, or behind the menu of a phone. */
function belowTheWindow(el) {
  const menu = parseFloat(getComputedStyle(document.documentElement).scrollPaddingBottom) || 0;
  return el.getBoundingClientRect().top > window.innerHeight - menu - 40;
}

/**
 * @typedef {object} Rows
 * @property {number} count
 * @property {number} about  a row's height in pixels before it is estimated
 * @property {(from: number) => Float64Array} estimates heights of the rows from one on before they are drawn
 * @property {(i: number) => HTMLElement} draw  a row
 * @property {(from: number, to: number) => void} [need] rows about to be seen: load them, then call redraw
 * @property {(i: number) => void} [focused]    the row that has the focus
 * @property {(first: number, last: number) => void} [seen] rows in view
 */

/** VirtualList is such a list. */
export class VirtualList {
  /**
   * @param {Rows} rows
   * @param {{label: string, role?: string, rowRole?: string, signal: AbortSignal}} options
   */
  constructor(rows, { label, role = 'feed', rowRole = 'article', signal }) {
    this.rows = rows;
    this.rowRole = rowRole;
    this.drawn = new Map(); // index → element
    this.anchor = { i: 0, dy: 0 };
    this.current = 0;
    this.following = false; // the person stands at the end, and goes on with it
    this.space = h('div', { class: 'vspace', role, 'aria-label': label });
    this.el = h('div', { class: 'vlist' }, this.space);
    this.measure();
    this.el.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.el.addEventListener('scrollend', () => this.settle());
    this.space.addEventListener('focusin', (e) => this.focusMoved(e));
    this.space.addEventListener('keydown', (e) => this.onKey(e));
    this.resizes = new ResizeObserver((entries) => this.resized(entries));
    this.resizes.observe(this.el);
    signal.addEventListener('abort', () => this.resizes.disconnect());
  }

  /** measure guesses all heights anew: roughly at first, so that something is seen, and better after that. */
  measure() {
    this.margin = 0;
    this.stay?.();
    this.stay = afterPaint(() => this.widen());
    this.heights = new Heights(this.rows.count, this.rows.about);
    this.measured = new Set();
  }

  /** widen estimates what has not been drawn, and draws what is beyond the edges. */
  widen() {
    this.margin = MARGIN;
    const sizes = this.rows.estimates(0);
    for (const i of this.measured) sizes[i] = this.heights.size(i);
    this.heights.all(sizes);
    if (!this.el.isConnected) return;
    if (this.scrolling) this.draw();
    else this.stand();
  }

  /** reset takes other rows, and goes to one of them; who had the focus in the list has it still. */
  reset(rows, to = 0) {
    const had = this.space.contains(document.activeElement);
    this.rows = rows;
    for (const el of this.drawn.values()) this.drop(el);
    this.drawn.clear();
    this.measure();
    this.current = Math.min(Math.max(0, to), Math.max(0, rows.count - 1));
    this.anchor = { i: this.current, dy: 0 };
    this.place();
    if (had) this.focusRow(this.current, { scroll: false });
  }

  /** cut takes rows away at the end, for others that come in their place. */
  cut(count) {
    for (const [i, el] of [...this.drawn]) {
      if (i < count) continue;
      this.drop(el);
      this.drawn.delete(i);
    }
    for (const i of [...this.measured]) if (i >= count) this.measured.delete(i);
    this.heights.cut(count);
  }

  /** grow takes rows that were added at the end; who stands there follows them. */
  grow(rows) {
    this.heed();
    this.rows = rows;
    for (const size of rows.estimates(this.heights.count)) this.heights.push(size);
    for (const el of this.drawn.values()) el.setAttribute('aria-setsize', rows.count);
    if (this.following) this.toEnd();
    else this.stand();
  }

  get view() {
    return this.el.clientHeight || 600;
  }
  get tall() {
    return Math.min(this.heights.total, TALLEST);
  }

  /** scale is how many pixels of the list one pixel of the scroll bar is. */
  get scale() {
    const room = this.tall - this.view;
    return room > 0 ? (this.heights.total - this.view) / room : 1;
  }

  get top() {
    return this.heights.before(this.anchor.i) + this.anchor.dy;
  }

  atEnd() {
    return this.heights.total - this.top - this.view < 40;
  }

  toEnd() {
    this.moveTo(this.heights.total - this.view);
    this.moveTo(this.heights.total - this.view); // rows were measured
  }

  /** clamp keeps the last row at the lower edge when rows turn out to be smaller than guessed. */
  clamp() {
    const most = Math.max(0, this.heights.total - this.view);
    if (this.top > most) this.anchor = this.heights.at(most);
  }

  moveTo(top) {
    this.anchor = this.heights.at(Math.min(Math.max(0, top), Math.max(0, this.heights.total - this.view)));
    this.place();
  }

  /** scrollTo brings row i to the top third of what is seen. */
  scrollTo(i, { edge = false } = {}) {
    if (this.rows.count === 0) return;
    const row = Math.min(Math.max(0, i), this.rows.count - 1);
    const above = edge ? 0 : Math.min(this.view / 4, 160);
    this.anchor = this.heights.at(Math.max(0, this.heights.before(row) - above));
    this.place();
    this.anchor = this.heights.at(Math.max(0, this.heights.before(row) - above)); // rows were measured
    this.place();
    this.following = this.atEnd();
  }

  /** focusRow makes row i the current one and shows it. */
  focusRow(i, { scroll = true } = {}) {
    if (this.rows.count === 0) return;
    this.current = Math.min(Math.max(0, i), this.rows.count - 1);
    if (scroll && !this.inView(this.current)) this.scrollTo(this.current);
    else this.draw();
    this.drawn.get(this.current)?.focus({ preventScroll: true });
  }

  inView(i) {
    const from = this.heights.before(i) - this.top;
    return from >= 0 && from + Math.min(this.heights.size(i), this.view) <= this.view;
  }

  scrolled() {
    const at = this.el.scrollTop;
    if (at === this.expected) return;
    const by = at - (this.expected ?? 0);
    this.expected = at;
    const near = Math.abs(by) < this.view * 2 && at > 0 && at < this.tall - this.view - 1;
    const top = near ? this.top + by : at * this.scale;
    this.anchor = this.heights.at(Math.min(Math.max(0, top), Math.max(0, this.heights.total - this.view)));
    this.scrolling = true;
    this.following = this.atEnd();
    this.draw();
  }

  settle() {
    this.scrolling = false;
    this.stand();
  }

  /** heed takes a movement of which the browser has not told yet, and says whether there was one. */
  heed() {
    if (this.expected === undefined || this.el.scrollTop === this.expected) return false;
    const { scrolling } = this;
    this.scrolled();
    this.scrolling = scrolling;
    return true;
  }

  /** stand is place where nobody asked for it: who is just going elsewhere is not called back. */
  stand() {
    if (!this.heed()) this.place();
  }

  /** place puts the scroll bar where the anchor is, and draws. */
  place() {
    this.clamp();
    this.space.style.height = `${this.tall}px`;
    this.el.scrollTop = Math.round(this.top / this.scale);
    this.expected = this.el.scrollTop;
    this.draw();
  }

  draw() {
    if (this.rows.count === 0) return;
    const from = this.heights.at(this.top - this.margin).i;
    let to = this.heights.at(this.top + this.view + this.margin).i;
    this.rows.need?.(from, to);
    this.keepOnly(from, to);
    for (let i = from; i <= to; i++) this.ensure(i);
    to = this.fit(from, to);
    this.clamp();
    this.position();
    this.rows.seen?.(this.heights.at(this.top).i, Math.min(to, this.heights.at(this.top + this.view - 1).i));
  }

  /** fit measures what was drawn, and draws on while there is room. */
  fit(from, to) {
    for (let round = 0; round < 4; round++) {
      for (const [i, el] of this.drawn) if (!this.measured.has(i)) this.take(i, el.offsetHeight);
      const last = Math.min(this.rows.count - 1, this.heights.at(this.top + this.view + this.margin).i);
      if (last <= to) break;
      this.rows.need?.(to + 1, last);
      for (let i = to + 1; i <= last; i++) this.ensure(i);
      to = last;
    }
    return to;
  }

  take(i, height) {
    if (!height) return;
    this.measured.add(i);
    this.heights.set(i, height);
  }

  ensure(i) {
    if (this.drawn.has(i)) return;
    const el = this.rows.draw(i);
    el.classList.add('vrow');
    el.setAttribute('role', this.rowRole);
    el.setAttribute('aria-posinset', i + 1);
    el.setAttribute('aria-setsize', this.rows.count);
    el.tabIndex = i === this.current ? 0 : -1;
    el.vindex = i;
    this.drawn.set(i, el);
    this.insert(el, i);
    this.resizes.observe(el);
  }

  insert(el, i) {
    let next = null;
    for (let at = this.space.lastElementChild; at && at.vindex > i; at = at.previousElementSibling) next = at;
    this.space.insertBefore(el, next);
  }

  keepOnly(from, to) {
    for (const [i, el] of this.drawn) {
      if ((i >= from && i <= to) || (i === this.current && el.contains(document.activeElement))) continue;
      this.drop(el);
      this.drawn.delete(i);
    }
  }

  drop(el) {
    this.resizes.unobserve(el);
    el.remove();
  }

  position() {
    const shift = this.el.scrollTop - this.top;
    this.space.style.height = `${this.tall}px`;
    for (const [i, el] of this.drawn)
      el.style.transform = `translateY(${Math.round(this.heights.before(i) + shift)}px)`;
  }

  /** redraw draws rows again, for example after they have been loaded. */
  redraw(from = 0, to = this.rows.count - 1) {
    for (const [i, el] of [...this.drawn]) {
      if (i < from || i > to) continue;
      const had = el.contains(document.activeElement);
      const at = had ? [...el.querySelectorAll(CONTROLS)].indexOf(document.activeElement) : -1;
      this.drop(el);
      this.drawn.delete(i);
      this.measured.delete(i);
      if (had) {
        this.ensure(i);
        const row = this.drawn.get(i);
        (row.querySelectorAll(CONTROLS)[at] ?? row).focus({ preventScroll: true });
      }
    }
    this.heed();
    this.draw();
    if (this.following) this.toEnd();
    else if (!this.scrolling) this.stand();
  }

  resized(entries) {
    let changed = false;
    for (const { target } of entries) {
      if (target === this.el) {
        changed ||= this.width !== this.el.clientWidth || this.seenHeight !== this.el.clientHeight;
        if (this.width !== undefined && this.width !== this.el.clientWidth) this.measured.clear();
        this.width = this.el.clientWidth;
        this.seenHeight = this.el.clientHeight;
      } else if (
        this.drawn.get(target.vindex) === target &&
        target.offsetHeight !== this.heights.size(target.vindex)
      ) {
        this.take(target.vindex, target.offsetHeight);
        changed = true;
      }
    }
    if (changed && !this.scrolling) this.stand();
    else if (changed) this.draw();
  }

  focusMoved(event) {
    const row = event.target.closest('.vrow');
    if (!row) return;
    const before = this.drawn.get(this.current);
    if (before) before.tabIndex = -1;
    this.current = row.vindex;
    row.tabIndex = 0;
    if (row.matches(':focus-visible') && belowTheWindow(row)) this.el.scrollIntoView({ block: 'nearest' });
    this.rows.focused?.(this.current);
  }

  onKey(event) {
    if (event.ctrlKey && (event.key === 'End' || event.key === 'Home') && !event.target.closest('input, textarea')) {
      this.beyond(event.key === 'End');
      event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, textarea, select')) return;
    const steps = { PageDown: 1, PageUp: -1 };
    if (event.key in steps) this.step(steps[event.key]);
    else if (event.key === 'Home' && event.target.classList.contains('vrow')) this.focusRow(0);
    else if (event.key === 'End' && event.target.classList.contains('vrow')) this.focusRow(this.rows.count - 1);
    else return;
    event.preventDefault();
  }

  /** beyond gives the focus to what comes after the list, or before it: Tab goes through all of its rows. */
  beyond(after) {
    const where = after ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
    const all = [...document.querySelectorAll(`${CONTROLS}, [tabindex="0"]`)].filter(
      (el) => this.el.compareDocumentPosition(el) === where && !el.disabled && el.checkVisibility(),
    );
    all.at(after ? 0 : -1)?.focus();
  }

  /** step goes on by rows: from the row that has the focus, else from what is seen. */
  step(by) {
    if (this.space.contains(document.activeElement)) this.focusRow(this.current + by);
    else this.focusRow(this.inView(this.current) ? this.current : this.heights.at(this.top + 1).i);
  }
}
