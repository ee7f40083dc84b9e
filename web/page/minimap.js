// The whole run as a narrow picture beside it: what stands where, where the hits
// of a search are, and which part is in view. It is a slider, too.

import { afterPaint, h } from './dom.js';
import { CODE, FLAG } from './rundata.js';

const COLOURS = {
  u: '--accent',
  a: '--edge',
  c: '--line',
  r: '--line',
  t: '--line',
  s: '--line',
  k: '--line',
  x: '--line',
  e: '--bad',
};

export class Minimap {
  /**
   * @param {{label: string, go: (row: number) => void, told: (row: number) => string, signal: AbortSignal}} given
   */
  constructor({ label, go, told, signal }) {
    this.go = go;
    this.told = told;
    this.rows = { count: 0 };
    this.hits = this.pins = () => [];
    this.canvas = h('canvas', { 'aria-hidden': 'true' });
    this.window = h('div', { class: 'map-window' });
    this.el = h(
      'div',
      {
        class: 'minimap noprint',
        role: 'slider',
        tabindex: '0',
        'aria-label': label,
        'aria-orientation': 'vertical',
        'aria-valuemin': '1',
        'aria-valuenow': '1',
      },
      this.canvas,
      this.window,
    );
    this.el.addEventListener('pointerdown', (e) => this.press(e));
    this.el.addEventListener('pointermove', (e) => {
      if (this.pressed) this.point(e);
    });
    this.el.addEventListener('pointerup', () => {
      this.pressed = false;
    });
    this.el.addEventListener('keydown', (e) => this.onKey(e));
    const sizes = new ResizeObserver(() => this.draw());
    sizes.observe(this.el);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const repaint = () => this.draw();
    dark.addEventListener('change', repaint, { signal });
    const themes = new MutationObserver(repaint);
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    signal.addEventListener('abort', () => {
      sizes.disconnect();
      themes.disconnect();
    });
  }

  /** show takes the rows: how many, which type and flags each has; hits and pins say which are those. */
  show(rows, hits, pins) {
    Object.assign(this, { rows, hits, pins });
    this.el.setAttribute('aria-valuemax', Math.max(1, rows.count));
    this.draw();
  }

  /** view marks which rows are in view. */
  view(first, last) {
    this.first = first;
    const count = Math.max(1, this.rows.count);
    this.window.style.top = `${(first / count) * 100}%`;
    this.window.style.height = `max(6px, ${((last - first + 1) / count) * 100}%)`;
    this.el.setAttribute('aria-valuenow', first + 1);
    this.el.setAttribute('aria-valuetext', this.told(first));
  }

  /** draw draws after the next frame, however often it is asked. */
  draw() {
    this.drawing ??= afterPaint(() => {
      this.drawing = null;
      this.paint();
    });
  }

  paint() {
    const high = this.el.clientHeight,
      wide = this.el.clientWidth;
    if (!high || !this.rows.count) return;
    const scale = Math.min(2, devicePixelRatio || 1);
    this.canvas.width = wide * scale;
    this.canvas.height = high * scale;
    const pen = this.canvas.getContext('2d');
    pen.scale(scale, scale);
    const styles = getComputedStyle(document.documentElement);
    const known = new Map();
    const colour = (name) => known.get(name) ?? known.set(name, styles.getPropertyValue(name)).get(name);
    this.bands(pen, high, wide, colour);
    this.marks(pen, this.hits(), high, wide * 0.62, wide * 0.38, colour('--warn'));
    this.marks(pen, this.pins(), high, 0, wide * 0.2, colour('--accent'));
  }

  bands(pen, high, wide, colour) {
    if (this.rows.count > high * 1.5) this.densities(pen, high, wide, colour);
    else this.strokes(pen, high, wide, colour);
  }

  /** strokes draws every row on its own. */
  strokes(pen, high, wide, colour) {
    const { count, type, flag } = this.rows;
    const each = high / count;
    const thick = Math.max(1, Math.floor(each) - (each > 4 ? 1 : 0));
    for (let i = 0; i < count; i++) {
      const seen = flag(i) & FLAG.error ? 'e' : String.fromCharCode(type(i));
      pen.fillStyle = colour(COLOURS[seen]);
      pen.fillRect(
        wide * 0.12,
        Math.floor(i * each),
        wide * (seen === 'u' || seen === 'e' ? 0.76 : seen === 'a' ? 0.6 : 0.4),
        thick,
      );
    }
  }

  /** densities draws how many of a kind stand beside one another: words, prompts, errors. */
  densities(pen, high, wide, colour) {
    const { count, type, flag } = this.rows;
    const kinds = { a: new Uint32Array(high), u: new Uint32Array(high), e: new Uint32Array(high) };
    const of = [];
    for (const [letter, counts] of Object.entries(kinds)) of[CODE(letter)] = counts;
    for (let i = 0; i < count; i++) {
      const counts = flag(i) & FLAG.error ? kinds.e : of[type(i)];
      if (counts) counts[Math.floor((i / count) * high)]++;
    }
    for (const [kind, left] of [
      ['a', 0.12],
      ['u', 0.42],
      ['e', 0.68],
    ]) {
      const most = kinds[kind].reduce((a, b) => Math.max(a, b), 1);
      pen.fillStyle = colour(COLOURS[kind]);
      for (let y = 0; y < high; y++) {
        pen.globalAlpha = kinds[kind][y] ? 0.2 + (0.8 * kinds[kind][y]) / most : 0;
        pen.fillRect(wide * left, y, wide * 0.24, 1);
      }
    }
    pen.globalAlpha = 1;
  }

  marks(pen, rows, high, left, wide, colour) {
    pen.fillStyle = colour;
    for (const row of rows) pen.fillRect(left, Math.floor((row / this.rows.count) * high), wide, 2);
  }

  press(event) {
    this.pressed = true;
    this.el.setPointerCapture(event.pointerId);
    this.point(event);
  }

  point(event) {
    const box = this.el.getBoundingClientRect();
    this.to(((event.clientY - box.top) / box.height) * this.rows.count);
  }

  to(row) {
    this.go(Math.min(this.rows.count - 1, Math.max(0, Math.floor(row))));
  }

  onKey(event) {
    const page = Math.max(1, Math.round(this.rows.count / 20));
    const steps = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) this.to((this.first ?? 0) + steps[event.key]);
    else if (event.key === 'Home') this.to(0);
    else if (event.key === 'End') this.to(this.rows.count - 1);
    else return;
    event.preventDefault();
  }
}
