// A run as a conversation: the virtual list of its entries, filters, search with
// hits on the minimap, jumps, pins and the mark of how far it was read.

import {
  clockTime,
  filters,
  h,
  key,
  listKeys,
  mark,
  number,
  offer,
  oneLine,
  plain,
  replace,
  rewrite,
  say,
  setFilters,
  t,
  typed,
} from './core.js';
import { drawEntry, estimate } from './entry.js';
import { VirtualList } from './list.js';
import { pinKey, remember } from './marks.js';
import { Minimap } from './minimap.js';
import { CODE, FLAG, TYPES, laneName } from './rundata.js';

const HIDDEN_AT_FIRST = 'kx'; // figures stand in the plot; of what nobody knows there is a count
const OUTLINED = 40; // pixels, of a row of one line
const ABOUT = 60; // of any other, until it is estimated
const JUMPS = { prompt: FLAG.prompt, error: FLAG.error, tool: FLAG.call };

export class Talk {
  /**
   * @param {import('./rundata.js').RunData} data
   * @param {{signal: AbortSignal, pins: number[], seen: number|null, at?: number, alone?: boolean, label: string}} options
   *        alone: it is the page's own run, has its keys and its address
   */
  constructor(data, { signal, pins, seen, at, alone = true, label }) {
    Object.assign(this, { data, signal, alone, seen, read: seen ?? -1 });
    this.folds = new Map();
    this.hits = [];
    this.ctx = {
      data,
      folds: this.folds,
      pins: new Set(pins),
      whole: new Map(),
      seen: seen !== null && seen < data.total - 1 ? seen : null,
      redraw: (n) => this.redrawEntry(n),
      href: (n) => this.href(n),
      estimate: (n) => this.estimate(n),
      outline: false,
    };
    const { hide = HIDDEN_AT_FIRST, layout } = alone ? filters() : {};
    this.ctx.outline = layout === 'outline';
    this.hidden = new Set(hide === 'none' ? '' : hide);
    this.width = Math.min(860, window.innerWidth - 80);
    this.choose();
    this.list = new VirtualList(this.rows(), { label, signal });
    this.map = new Minimap({
      label: t.run.minimap,
      go: (row) => this.list.scrollTo(row, { edge: true }),
      told: (row) => this.told(row),
      signal,
    });
    this.bar = this.toolbar(label);
    this.onPaper = h('p', { class: 'onpaper' });
    const body = h('div', { class: 'talk-body' }, this.list.el, this.map.el);
    this.el = h('div', { class: 'talk' }, this.bar, this.onPaper, body);
    this.at = at;
    this.wire();
  }

  wire() {
    const { data, signal } = this;
    this.ready = new Promise((resolve) => {
      this.loaded = resolve;
    });
    data.onLoaded = (from, to) => {
      this.list.redraw(this.rowOf(from), this.rowOf(to));
      this.loaded();
    };
    data.onGrow = (from, before) => this.grown(from, before);
    data.onAnew = () => this.again();
    signal.addEventListener('abort', () => this.leave());
    if (this.alone) this.bindKeys();
  }

  /** begin draws, once the element is in the document; ready ends when there are texts to be read. */
  begin() {
    this.drawMap();
    if (this.at !== undefined) this.goTo(this.at, { focus: true });
    else if (this.ctx.seen !== null) this.list.scrollTo(this.rowOf(this.ctx.seen + 1));
    else this.list.place();
    if (this.shown.length === 0 || this.data.entry(this.shown[this.list.anchor.i])) this.loaded();
    const { find } = filters();
    if (this.alone && find) this.search(find);
    this.data.all().catch(() => {}); // who needs them asks again
    return this.ready;
  }

  // Which entries are rows.

  /** choose takes the entries that the filters let through. */
  choose() {
    const { lane, tool } = this.alone ? filters() : {};
    const { data } = this;
    const hidden = new Uint8Array(128);
    for (const letter of this.hidden) hidden[CODE(letter)] = 1;
    const wantedLane = lane === undefined ? -1 : data.laneNumber(lane);
    const wantedTool = tool === undefined ? -1 : data.tools.indexOf(tool);
    const ofTool = (n) => data.tool[n] === wantedTool || (data.call[n] >= 0 && data.tool[data.call[n]] === wantedTool);
    const narrow = (this.narrow = lane !== undefined || tool !== undefined);
    const fits = (n) =>
      (lane === undefined || data.lane[n] === wantedLane) && (tool === undefined || ofTool(n));
    // A loop of its own: at a hundred thousand entries a call for each is felt.
    this.take = (from) => {
      const { shown } = this;
      const { type, total } = data;
      for (let n = from; n < total; n++) if (!hidden[type[n]] && (!narrow || fits(n))) shown.push(n);
    };
    this.shown = [];
    this.take(0);
  }

  rows() {
    const { data } = this;
    return {
      count: this.shown.length,
      about: this.ctx.outline ? OUTLINED : ABOUT,
      estimates: (from) => this.estimates(from),
      draw: (i) => drawEntry(this.shown[i], this.ctx),
      need: (from, to) => {
        for (let i = from; i <= to; i++) data.need(this.shown[i], this.shown[i]);
      },
      focused: (i) => this.stand(this.shown[i]),
      seen: (first, last) => this.inView(first, last),
    };
  }

  /** estimates are heights for the rows from one on. */
  estimates(from) {
    const { shown, width } = this;
    const { type, size, flag } = this.data;
    const heights = new Float64Array(shown.length - from);
    if (this.ctx.outline) return heights.fill(OUTLINED);
    for (let i = 0; i < heights.length; i++) {
      const n = shown[from + i];
      heights[i] = estimate(type[n], size[n], flag[n], width);
    }
    return heights;
  }

  estimate(n) {
    const { type, size, flag } = this.data;
    return this.ctx.outline ? OUTLINED : estimate(type[n], size[n], flag[n], this.width);
  }

  /** rowOf is the row of entry n, or of the next one that is shown. */
  rowOf(n) {
    let low = 0,
      high = this.shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.shown[middle] < n) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  redrawEntry(n) {
    const row = this.rowOf(n);
    this.list.redraw(row, row);
  }

  href(n) {
    return `/run/${encodeURIComponent(this.data.id)}/${n}${this.alone ? location.search : ''}`;
  }

  /** stand notes in the address where the person is, once they stay there. */
  stand(n) {
    clearTimeout(this.standing);
    if (!this.alone || n === undefined) return;
    this.standing = setTimeout(() => this.signal.aborted || rewrite(this.href(n)), 250);
  }

  inView(first, last) {
    this.map?.view(first, last);
    if (this.onPaper) this.onPaper.textContent = this.printed();
    const end = last >= this.shown.length - 1 ? this.data.total - 1 : this.shown[last];
    if (end > this.read) {
      this.read = end;
      this.note ??= setTimeout(() => {
        this.note = null;
        this.leave();
      }, 4000);
    }
    this.highlight();
  }

  /** printed says on paper that it is not the whole run. */
  printed() {
    const rows = [...this.list.drawn.keys()];
    if (rows.length >= this.shown.length) return '';
    const place = (row) => number(row + 1);
    return t.run.onPaper(place(Math.min(...rows)), place(Math.max(...rows)), number(this.shown.length));
  }

  leave() {
    if (this.alone && this.read >= 0 && this.read !== this.noted) remember(this.data.id, (this.noted = this.read));
  }

  told(row) {
    const n = this.shown[row];
    return n === undefined
      ? ''
      : t.run.place(
          number(row + 1),
          number(this.shown.length),
          this.data.at[n] === undefined ? '' : clockTime(this.data.atTime(n)),
        );
  }

  // Growing.

  /** grown takes what came: entries from one on, of which those from before on are new. */
  grown(from, before) {
    const rows = this.rowOf(from);
    const focused = this.list.current >= rows && this.list.space.contains(document.activeElement);
    if (rows < this.shown.length) {
      this.shown.length = rows;
      this.list.cut(rows);
    }
    this.take(from);
    this.list.grow(this.rows());
    if (focused && !this.list.space.contains(document.activeElement)) this.list.focusRow(this.list.current);
    this.drawMap();
    this.countLabels();
    this.tellNew(this.data.total - before);
  }

  /** tellNew says how many entries came, at most every ten seconds. */
  tellNew(n) {
    this.fresh = (this.fresh ?? 0) + n;
    this.telling ??= setTimeout(() => {
      say(t.run.grown(this.fresh));
      this.fresh = 0;
      this.telling = null;
    }, 10000);
  }

  again() {
    const n = this.shown[this.list.anchor.i] ?? 0;
    this.ctx.whole.clear();
    this.filter();
    this.list.scrollTo(this.rowOf(n), { edge: true });
  }

  filter() {
    const n = this.shown[this.list.current] ?? 0;
    this.choose();
    this.list.reset(this.rows(), this.rowOf(n));
    this.drawMap();
    this.countLabels();
    say(t.run.shown(this.shown.length));
  }

  drawMap() {
    const { data, shown } = this;
    const rowsOf = (list) => list.map((n) => this.rowOf(n)).filter((row, i) => shown[row] === list[i]);
    this.map.show(
      { count: shown.length, type: (i) => data.type[shown[i]], flag: (i) => data.flag[shown[i]] },
      () => rowsOf(this.hits),
      () => rowsOf([...this.ctx.pins]),
    );
  }

  // The bar above.

  toolbar(label) {
    this.kinds = h('div', { class: 'row kinds', role: 'group', 'aria-label': t.run.show });
    this.jumps = h('div', { class: 'row jumps', role: 'group', 'aria-label': t.run.jump });
    this.found = h('span', { class: 'muted small num' });
    this.field = h('input', {
      type: 'search',
      value: this.alone ? (filters().find ?? '') : '',
      'aria-label': t.run.search,
      placeholder: t.run.search,
      on: {
        input: typed(() => this.search(this.field.value.trim())),
        keydown: (e) => {
          if (e.key === 'Enter') {
            e.preventDefault();
            this.nextHit(e.shiftKey ? -1 : 1);
          }
        },
      },
    });
    this.fillLabels();
    const bar = h(
      'div',
      { class: 'talk-bar noprint' },
      h(
        'div',
        { class: 'row grow', role: 'search', 'aria-label': `${t.run.search}: ${label}` },
        this.field,
        this.arrows(t.run.hit, (by) => this.nextHit(by)),
        this.found,
      ),
    );
    return this.spread(bar);
  }

  /** spread puts the rest of the bar beside the search; a narrow screen folds it. */
  spread(bar) {
    const rest = [this.jumps, this.kinds, this.outliner()];
    const body = h('div', { class: 'talk-rest' });
    const folded = h('details', { class: 'talk-more' }, h('summary', { class: 'muted small' }, t.run.more), body);
    const narrow = matchMedia('(max-width: 46rem)');
    const arrange = () => {
      (narrow.matches ? body : bar).append(...rest);
      if (narrow.matches) bar.append(folded);
      else folded.remove();
    };
    narrow.addEventListener('change', arrange, { signal: this.signal });
    arrange();
    return bar;
  }

  /** outliner switches between whole entries and one line each. */
  outliner() {
    const button = h(
      'button',
      {
        type: 'button',
        class: 'chip',
        'aria-pressed': String(this.ctx.outline),
        on: { click: () => this.setOutline(!this.ctx.outline, button) },
      },
      t.run.outline,
    );
    this.outlineButton = button;
    return button;
  }

  setOutline(on, button = this.outlineButton) {
    this.ctx.outline = on;
    button.setAttribute('aria-pressed', String(on));
    if (this.alone) setFilters({ layout: on ? 'outline' : null });
    const n = this.shown[this.list.anchor.i] ?? 0;
    this.list.reset(this.rows(), this.rowOf(n));
  }

  /** fillLabels makes the buttons of the bar; their figures come by countLabels. */
  fillLabels() {
    this.labels = new Map();
    replace(
      this.kinds,
      Object.entries(TYPES).map(([letter, name]) => this.kindButton(letter, name)),
    );
    const toNew =
      this.ctx.seen === null
        ? null
        : h(
            'button',
            { type: 'button', on: { click: () => this.goTo(this.ctx.seen + 1, { focus: true }) } },
            t.run.toNew(number(this.data.total - 1 - this.ctx.seen)),
          );
    replace(
      this.jumps,
      Object.keys(JUMPS).map((name) => this.jumpGroup(name)),
      toNew,
    );
    this.countLabels();
  }

  /** countLabels puts figures at the buttons of the bar. */
  countLabels() {
    const put = (name, n) => {
      const { el, figure } = this.labels.get(name);
      figure.textContent = number(n);
      el.hidden = n === 0;
    };
    for (const [name, flag] of Object.entries(JUMPS)) put(name, this.marked(flag));
    for (const letter of Object.keys(TYPES)) put(letter, this.data.many(CODE(letter)));
  }

  /** marked is how many rows have a flag. */
  marked(flag) {
    const { data, shown } = this;
    if (this.narrow) return shown.reduce((sum, n) => sum + (data.flag[n] & flag ? 1 : 0), 0);
    return Object.keys(TYPES)
      .filter((letter) => !this.hidden.has(letter))
      .reduce((sum, letter) => sum + data.many(CODE(letter), flag), 0);
  }

  kindButton(letter, name) {
    const figure = h('span', { class: 'num muted' });
    const el = h(
      'button',
      {
        type: 'button',
        class: 'chip',
        'aria-pressed': String(!this.hidden.has(letter)),
        on: { click: () => this.toggleKind(letter, el) },
      },
      t.run.typesMany[name],
      ' ',
      figure,
    );
    this.labels.set(letter, { el, figure });
    return el;
  }

  toggleKind(letter, button) {
    if (this.hidden.has(letter)) this.hidden.delete(letter);
    else this.hidden.add(letter);
    button.setAttribute('aria-pressed', String(!this.hidden.has(letter)));
    const hide = [...this.hidden].sort().join('');
    if (this.alone) setFilters({ hide: hide === HIDDEN_AT_FIRST ? null : hide || 'none' });
    this.filter();
  }

  jumpGroup(name) {
    const figure = h('span', { class: 'num' });
    const words = h('span', { class: 'muted small' }, `${t.run.jumps[name]} `, figure);
    const el = h(
      'span',
      { class: 'jump' },
      words,
      this.arrows(t.run.jumps[name], (by) => this.jump(JUMPS[name], by)),
    );
    this.labels.set(name, { el, figure });
    return el;
  }

  arrows(name, go) {
    return [
      [-1, 'previous', t.run.previous(name)],
      [1, 'next', t.run.next(name)],
    ].map(([by, icon, label]) =>
      h(
        'button',
        { type: 'button', class: 'icon', 'aria-label': label, title: label, on: { click: () => go(by) } },
        mark(icon),
      ),
    );
  }

  bindKeys() {
    listKeys(() => this.list);
    key(']', t.run.next(t.run.jumps.prompt), () => this.jump(FLAG.prompt, 1));
    key('[', t.run.previous(t.run.jumps.prompt), () => this.jump(FLAG.prompt, -1));
    key('e', t.run.next(t.run.jumps.error), () => this.jump(FLAG.error, 1));
    key('E', t.run.previous(t.run.jumps.error), () => this.jump(FLAG.error, -1));
    key('t', t.run.next(t.run.jumps.tool), () => this.jump(FLAG.call, 1));
    key('T', t.run.previous(t.run.jumps.tool), () => this.jump(FLAG.call, -1));
    key('n', t.run.next(t.run.hit), () => this.nextHit(1));
    key('N', t.run.previous(t.run.hit), () => this.nextHit(-1));
    key('u', t.run.toNewKey, () =>
      this.goTo(Math.min(this.data.total - 1, (this.ctx.seen ?? this.data.total - 2) + 1), { focus: true }),
    );
    key('z', t.run.unfold, () => this.unfold());
    pinKey(() => this.list.drawn.get(this.list.current)?.querySelector('.toggle-pin'));
    key('g g', t.run.toStart, () => this.list.focusRow(0));
    key('G', t.run.toEnd, () => this.list.focusRow(this.shown.length - 1));
    offer(t.run.toEnd, () => this.list.focusRow(this.shown.length - 1), this.signal);
    key('o', t.run.outline.toLowerCase(), () => this.setOutline(!this.ctx.outline));
    offer(t.run.unfoldAll, () => this.every(true), this.signal);
    offer(t.run.foldAll, () => this.every(false), this.signal);
  }

  unfold() {
    const n = this.shown[this.list.current];
    if (this.ctx.outline) {
      this.folds.set(`whole ${n}`, !this.folds.get(`whole ${n}`));
      this.redrawEntry(n);
      return;
    }
    const details = this.list.drawn.get(this.list.current)?.querySelector('details.fold');
    if (details) details.open = !details.open;
  }

  /** every folds or unfolds all thinking and tools. */
  every(open) {
    this.folds.clear();
    for (const type of ['thinking', 'tool_use', 'tool_result', 'unknown']) this.folds.set(`every ${type}`, open);
    this.list.redraw();
  }

  // Going somewhere.

  goTo(n, { focus = false } = {}) {
    const row = Math.min(this.rowOf(n), this.shown.length - 1);
    if (row < 0) return;
    this.list.scrollTo(row);
    if (focus) this.list.focusRow(row, { scroll: false });
  }

  /** from is the row from which jumps are counted. */
  get from() {
    const { current } = this.list;
    return this.list.space.contains(document.activeElement) || this.list.inView(current)
      ? current
      : this.list.heights.at(this.list.top + 1).i;
  }

  jump(flag, by) {
    for (let row = this.from + by; row >= 0 && row < this.shown.length; row += by) {
      if (this.data.flag[this.shown[row]] & flag) {
        this.list.focusRow(row);
        return;
      }
    }
    say(t.run.noMore);
  }

  async search(words) {
    this.finding?.abort();
    this.finding = new AbortController();
    const { signal } = this.finding;
    if (this.alone) setFilters({ find: words || null });
    this.words = words.toLowerCase().split(/\s+/).filter(Boolean);
    try {
      const answer = words ? await this.data.find(words, signal) : { hits: [] };
      if (signal.aborted || this.signal.aborted) return;
      this.hits = answer.hits;
      this.found.textContent = words ? t.run.found(number(this.hits.length), answer.more) : '';
      if (words) say(this.found.textContent);
    } catch (err) {
      if (signal.aborted) return;
      this.hits = [];
      this.found.textContent = oneLine(err.message, 120);
    }
    this.drawMap();
    this.highlight();
  }

  nextHit(by) {
    const rows = this.hits
      .map((n) => this.rowOf(n))
      .filter((row, i) => this.shown[row] === this.hits[i])
      .sort((a, b) => a - b);
    if (rows.length === 0) return;
    const { from } = this;
    const next =
      by > 0
        ? (rows.find((row) => row > from) ?? rows[0])
        : (rows.findLast((row) => row < from) ?? rows[rows.length - 1]);
    this.list.focusRow(next);
    this.found.textContent = t.run.hitOf(number(rows.indexOf(next) + 1), number(rows.length));
  }

  /** highlight marks the words in what is in the document, without changing it. */
  highlight() {
    if (!globalThis.Highlight || !this.alone) return;
    cancelIdleCallback(this.idle);
    this.idle = requestIdleCallback(() => {
      CSS.highlights.delete('found');
      if (!this.words?.length || this.signal.aborted) return;
      const ranges = [];
      for (const el of this.list.drawn.values()) rangesIn(el, this.words, ranges);
      CSS.highlights.set('found', new Highlight(...ranges));
    });
  }
}

const MOST_RANGES = 500;

function rangesIn(el, words, ranges) {
  const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()) && ranges.length < MOST_RANGES;) {
    const text = node.data.slice(0, 20000).toLowerCase();
    for (const word of words) {
      for (
        let at = text.indexOf(word);
        at >= 0 && ranges.length < MOST_RANGES;
        at = text.indexOf(word, at + word.length)
      ) {
        if (at + word.length > node.data.length) break;
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
}

/** laneLabel is a lane as a reader knows it. */
export const laneLabel = (name) => plain(laneName(name)) || t.run.mainLane;
