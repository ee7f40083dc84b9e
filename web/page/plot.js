// Plots as SVG made here. Every plot is a figure with a caption, a sentence for
// those who listen, and the same figures as a table to unfold.

import { h, s, scroller } from './dom.js';
import { number } from './format.js';
import { oneLine, plain } from './plain.js';
import { t } from './texts.js';

const MOST_POINTS = 400;
const MOST_ROWS = 400;
const LONGEST_LABEL = 18;

/** roomOf is how many pixels words below a plot need, with the spacing that a reader may set. */
const roomOf = (words) => words.length * 8;

/**
 * lines draws series over a common x.
 * @param {{title: string, x: number[], series: {name: string, values: number[]}[], xText?: (x: number) => string,
 *          yText?: (y: number) => string, area?: boolean, height?: number, xName?: string}} given
 */
export function lines({ title, x, series, xText = number, yText = number, area = false, height = 180, xName = '' }) {
  if (x.length === 0) return empty(title);
  const picked = thin(x.length);
  const top = Math.max(...series.flatMap((one) => picked.map((i) => one.values[i] ?? 0)), 0);
  const frame = new Frame(height, nice(top), x[0], x[x.length - 1], yText);
  const drawn = series.flatMap((one, k) => curve(frame, x, one.values, picked, k, area));
  const ticks = frame.xTicks(xText).map((at) => frame.xTick(at, xText(at)));
  return figure(
    title,
    frame.svg(
      [...frame.grid(), ...drawn, ...ticks],
      told(
        title,
        series.map((one) => `${one.name}: ${yText(one.values[one.values.length - 1] ?? 0)}`),
      ),
    ),
    series.length > 1 ? legend(series.map((one) => one.name)) : null,
    asTable(
      [xName, ...series.map((one) => one.name)],
      picked.map((i) => [xText(x[i]), ...series.map((one) => yText(one.values[i] ?? 0))]),
    ),
  );
}

function thin(n) {
  if (n <= MOST_POINTS) return Array.from({ length: n }, (_, i) => i);
  return Array.from({ length: MOST_POINTS }, (_, i) => Math.round((i * (n - 1)) / (MOST_POINTS - 1)));
}

function curve(frame, x, values, picked, k, area) {
  const points = picked.map((i) => `${frame.x(x[i]).toFixed(1)},${frame.y(values[i] ?? 0).toFixed(1)}`);
  const group = `k${(k % 8) + 1}`;
  const first = frame.x(x[picked[0]]),
    last = frame.x(x[picked[picked.length - 1]]);
  return [
    area
      ? s('path', {
          class: `area ${group}`,
          d: `M${first},${frame.bottom}L${points.join('L')}L${last},${frame.bottom}Z`,
        })
      : null,
    s('path', { class: `curve ${group}`, d: `M${points.join('L')}` }),
  ];
}

/**
 * bars draws upright bars, each of one value or of several parts.
 * @param {{title: string, items: {label: string, value?: number, parts?: number[], href?: string}[], names?: string[],
 *          yText?: (y: number) => string, height?: number}} given
 */
export function bars({ title, items, names = [], yText = number, height = 180 }) {
  if (items.length === 0) return empty(title);
  const total = (item) => (item.parts ? item.parts.reduce((a, b) => a + b, 0) : (item.value ?? 0));
  const frame = new Frame(height, nice(Math.max(...items.map(total), 0)), 0, items.length, yText);
  const room = (frame.width - frame.left) / items.length;
  const drawn = items.flatMap((item, i) => stack(frame, item, i, room, names, yText));
  const labels = items.map((item) => oneLine(item.label, LONGEST_LABEL));
  const each = Math.ceil((Math.max(...labels.map(roomOf)) + 8) / room);
  const ticks = labels.map((label, i) =>
    i % each === 0
      ? s('text', { x: frame.left + (i + 0.5) * room, y: frame.bottom + 15, 'text-anchor': 'middle' }, label)
      : null,
  );
  const head = names.length ? ['', ...names] : ['', title];
  return figure(
    title,
    frame.svg(
      [...frame.grid(), ...drawn, ...ticks],
      told(
        title,
        items.slice(0, 40).map((item) => `${item.label}: ${yText(total(item))}`),
      ),
    ),
    names.length > 1 ? legend(names) : null,
    asTable(
      head,
      items.map((item) => [item.label, ...(item.parts ?? [item.value ?? 0]).map(yText)]),
    ),
  );
}

function stack(frame, item, i, room, names, yText) {
  let base = 0;
  return (item.parts ?? [item.value ?? 0]).map((value, k) => {
    const upper = frame.y(base + value),
      lower = frame.y(base);
    base += value;
    return s(
      'rect',
      {
        class: `fill k${(k % 8) + 1}`,
        x: frame.left + i * room + room * 0.1,
        width: room * 0.8,
        y: upper,
        height: Math.max(0, lower - upper),
        rx: Math.min(2, room * 0.2),
      },
      s('title', null, `${plain(item.label)}${names[k] ? ` · ${plain(names[k])}` : ''}: ${yText(value)}`),
    );
  });
}

/**
 * levels draws lying bars with their names: one value each.
 * @param {{title: string, items: {label: string, value: number, href?: string}[], text?: (v: number) => string}} given
 */
export function levels({ title, items, text = number }) {
  if (items.length === 0) return empty(title);
  const most = Math.max(...items.map((item) => item.value), 0) || 1;
  const row = (item) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row' }, item.href ? h('a', { href: item.href }, plain(item.label)) : plain(item.label)),
      h(
        'td',
        { class: 'level' },
        h('span', { 'aria-hidden': 'true', style: { width: `${(item.value / most) * 100}%` } }),
      ),
      h('td', { class: 'num' }, text(item.value)),
    );
  return h(
    'figure',
    { class: 'plot' },
    h('figcaption', null, title),
    h(
      'div',
      { class: 'scroll' },
      h('table', { class: 'levels', 'aria-label': title }, h('tbody', null, items.map(row))),
    ),
  );
}

/**
 * heat draws a grid of squares, the darker the more.
 * @param {{title: string, rows: string[], columns: string[], values: number[][], text?: (v: number) => string, cell?: number}} given
 */
export function heat({ title, rows, columns, values, text = number, cell = 14 }) {
  const left = 8 + Math.max(...rows.map((r) => r.length)) * 6.5;
  const most = Math.max(...values.flat().map((v) => v ?? 0), 0) || 1;
  const squares = values.flatMap((line, r) =>
    line.map((v, c) =>
      v === null || v === undefined
        ? null
        : s(
            'rect',
            {
              class: 'heat',
              x: left + c * (cell + 2),
              y: 18 + r * (cell + 2),
              width: cell,
              height: cell,
              rx: 2,
              'fill-opacity': v === 0 ? 0 : 0.18 + 0.82 * Math.sqrt(v / most),
            },
            s('title', null, `${plain(rows[r])} ${plain(columns[c])}: ${text(v)}`),
          ),
    ),
  );
  const beds = values.flatMap((line, r) =>
    line.map((v, c) =>
      v === null || v === undefined
        ? null
        : s('rect', {
            class: 'bed',
            x: left + c * (cell + 2),
            y: 18 + r * (cell + 2),
            width: cell,
            height: cell,
            rx: 2,
          }),
    ),
  );
  const names = [
    ...rows.map((name, r) =>
      s('text', { x: left - 6, y: 18 + r * (cell + 2) + cell - 3, 'text-anchor': 'end' }, plain(name)),
    ),
    ...columns.map((name, c) => (name ? s('text', { x: left + c * (cell + 2), y: 12 }, plain(name)) : null)),
  ];
  const wide = left + columns.length * (cell + 2),
    high = 20 + rows.length * (cell + 2);
  const svg = s(
    'svg',
    {
      viewBox: `0 0 ${wide} ${high}`,
      role: 'img',
      'aria-label': plain(title),
      style: { 'max-width': `${wide * 1.5}px` },
    },
    beds,
    squares,
    names,
  );
  return figure(
    title,
    scroller(title, svg),
    null,
    asTable(
      ['', ...columns],
      rows.map((name, r) => [name, ...values[r].map((v) => (v == null ? '' : text(v)))]),
    ),
  );
}

/** pixels is how many a plot has, so that its letters are as large as the others. */
const pixels = () => Math.max(280, Math.min(880, document.documentElement.clientWidth - 48));

class Frame {
  constructor(height, top, from, to, yText) {
    this.width = pixels();
    Object.assign(this, { height, top: top || 1, from, to: to === from ? from + 1 : to, yText });
    this.left = 16 + Math.max(yText(this.top).length, yText(this.top / 2).length) * 6.2;
    this.bottom = height - 20;
  }

  x(at) {
    return this.left + ((at - this.from) / (this.to - this.from)) * (this.width - this.left);
  }

  y(value) {
    return this.bottom - (value / this.top) * (this.bottom - 8);
  }

  grid() {
    return [0, this.top / 2, this.top].flatMap((value) => [
      s('line', {
        class: value === 0 ? 'axis' : 'grid',
        x1: this.left,
        x2: this.width,
        y1: this.y(value),
        y2: this.y(value),
      }),
      s('text', { x: this.left - 8, y: this.y(value) + 4, 'text-anchor': 'end' }, this.yText(value)),
    ]);
  }

  /** xTicks is where words stand below, as many as there is room for. */
  xTicks(xText) {
    const room = this.width - this.left;
    const words = Math.max(...[this.from, (this.from + this.to) / 2, this.to].map((at) => roomOf(xText(at))));
    if (room < 2 * words + 8) return [this.from];
    const n = Math.max(2, Math.min(5, 1 + Math.floor(room / (1.5 * words + 8)))); // those at the ends stand inside
    return Array.from({ length: n }, (_, i) => this.from + ((this.to - this.from) * i) / (n - 1));
  }

  xTick(at, text) {
    const where = at === this.from ? 'start' : at === this.to ? 'end' : 'middle';
    return s('text', { x: this.x(at), y: this.bottom + 15, 'text-anchor': where }, plain(text));
  }

  svg(children, label) {
    const viewBox = `0 0 ${this.width} ${this.height}`;
    const style = { 'max-width': `${this.width}px` };
    return s('svg', { viewBox, role: 'img', 'aria-label': label, style }, children);
  }
}

/** nice is the round number at or above n. */
function nice(n) {
  if (n <= 0) return 1;
  const unit = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 4, 5, 10].map((f) => f * unit).find((v) => v >= n);
}

function told(title, parts) {
  return plain(`${title}. ${parts.join('; ')}`);
}

function figure(title, svg, ...more) {
  return h('figure', { class: 'plot' }, h('figcaption', null, plain(title)), svg, ...more);
}

function empty(title) {
  return figure(title, h('p', { class: 'muted' }, t.nothing));
}

function legend(names) {
  return h(
    'ul',
    { class: 'legend' },
    names.map((name, k) => h('li', null, h('i', { class: `k${(k % 8) + 1}` }), plain(name))),
  );
}

function asTable(head, rows) {
  const body = scroller(t.asTable);
  const build = () => {
    if (body.firstChild) return;
    const kept = rows.slice(0, MOST_ROWS);
    body.append(
      h(
        'table',
        null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            head.map((name) => h('th', { scope: 'col' }, plain(name))),
          ),
        ),
        h(
          'tbody',
          null,
          kept.map((row) =>
            h(
              'tr',
              null,
              row.map((cell, i) =>
                i ? h('td', { class: 'num' }, plain(cell)) : h('th', { scope: 'row' }, plain(cell)),
              ),
            ),
          ),
        ),
      ),
    );
  };
  return h('details', { class: 'noprint', on: { toggle: build } }, h('summary', null, t.asTable), body);
}
