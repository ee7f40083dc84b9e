// How nodes are made. Text becomes text, never markup; no attribute runs
// anything, and no link leads elsewhere without being seen to.

import { plain } from './plain.js';

const SVG = 'http://www.w3.org/2000/svg';

/**
 * h builds an element. Attributes: `class`, `on: {event: fn}`, `style: {…}` and
 * `dataset: {…}` as objects, properties of forms (value, checked, disabled …),
 * anything else as an attribute; null, undefined and false leave it out.
 * @param {string} tag
 * @param {object|null} [attrs]
 * @param {...(Node|string|number|null|undefined|false|Array)} children
 * @returns {HTMLElement}
 */
export function h(tag, attrs, ...children) {
  return fill(document.createElement(tag), attrs, children);
}

/** s builds an element of a picture (SVG), by the rules of h. */
export function s(tag, attrs, ...children) {
  return fill(document.createElementNS(SVG, tag), attrs, children);
}

const PROPERTIES = new Set([
  'value',
  'checked',
  'disabled',
  'selected',
  'readOnly',
  'indeterminate',
  'open',
  'hidden',
  'textContent',
]);
const TOLD = new Set(['title', 'aria-label', 'placeholder', 'alt', 'aria-valuetext']); // shown as they are
const FORBIDDEN = /^(on|style$|srcdoc$|formaction$|action$|srcset$|xlink:|ping$|http-equiv$)/i;

function fill(el, attrs, children) {
  for (const [name, value] of Object.entries(attrs ?? {})) {
    if (value === null || value === undefined || (value === false && !PROPERTIES.has(name))) continue;
    setOne(el, name, value);
  }
  append(el, children);
  return el;
}

function setOne(el, name, value) {
  if (name === 'on') {
    for (const [event, fn] of Object.entries(value)) el.addEventListener(event, fn);
  } else if (name === 'style') {
    for (const [key, v] of Object.entries(value)) el.style.setProperty(key, v);
  } else if (name === 'dataset') {
    for (const [key, v] of Object.entries(value)) if (v != null) el.dataset[key] = v;
  } else if (PROPERTIES.has(name)) {
    el[name] = value;
  } else if (name === 'href') {
    setLink(el, String(value));
  } else if (name === 'src' ? !String(value).startsWith('/') : FORBIDDEN.test(name)) {
    throw new Error(`an element may not have ${name}`);
  } else {
    el.setAttribute(name, value === true ? '' : TOLD.has(name) ? plain(value) : String(value));
  }
}

/** append adds children: nodes as they are, everything else as text. */
export function append(el, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === null || child === undefined || child === false || child === '') continue;
    el.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/** ownPath says whether a link stays on this page's own server. */
export function ownPath(href) {
  return /^\/(?![/\\])/.test(href) || href.startsWith('#');
}

function setLink(el, href) {
  if (ownPath(href) || href.startsWith('blob:')) {
    el.setAttribute('href', href);
    return;
  }
  const url = outside(href);
  if (!url) throw new Error('a link leads to a path of this page or to http(s)');
  el.setAttribute('href', url.href);
  el.setAttribute('rel', 'noreferrer noopener');
  el.setAttribute('target', '_blank');
}

function outside(href) {
  try {
    const url = new URL(href);
    return (url.protocol === 'http:' || url.protocol === 'https:') && !url.username && !url.password ? url : null;
  } catch {
    return null;
  }
}

/**
 * link is a link out of foreign text. Where it leads is always seen: an address
 * that is not its own text stands behind it. What is no http(s) stays text.
 * @param {string} href
 * @param {string|Node[]} [text]
 */
export function link(href, text) {
  const url = outside(href);
  const words = text === undefined || text === '' ? plain(href) : text;
  if (!url) return h('span', { class: 'nolink' }, words, words === plain(href) ? null : ` (${plain(href)})`);
  const seen = typeof words === 'string' && (words === href || words === url.href);
  return h(
    'span',
    { class: 'outlink' },
    h('a', { href }, words),
    seen ? null : h('span', { class: 'where' }, ` (${plain(url.href)})`),
  );
}

/** scroller is a part that scrolls sideways where it has to, also by keys. */
export function scroller(label, ...children) {
  return h('div', { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': label }, ...children);
}

/** replace puts children in the place of everything that el holds. */
export function replace(el, ...children) {
  el.textContent = '';
  append(el, children);
  return el;
}

/** renew is replace where something has changed: what is being pressed, or has the focus, stays else. */
export function renew(el, ...children) {
  const now = replace(document.createElement('div'), children);
  const same = (node, i) => node.isEqualNode(el.childNodes[i]);
  if (now.childNodes.length === el.childNodes.length && [...now.childNodes].every(same)) return el;
  el.replaceChildren(...now.childNodes);
  return el;
}

/** mark is one of our own pictures, by its name; decoration, so it says nothing. */
export function mark(name, size = 16) {
  const at = MARKS[name] ?? MARKS.dot;
  return s(
    'svg',
    {
      viewBox: '0 0 16 16',
      width: size,
      height: size,
      class: `mark mark-${name}`,
      'aria-hidden': 'true',
      focusable: 'false',
    },
    s('path', {
      d: at,
      fill: 'none',
      stroke: 'currentColor',
      'stroke-width': '1.5',
      'stroke-linecap': 'round',
      'stroke-linejoin': 'round',
    }),
  );
}

const MARKS = {
  conclave: 'M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8M8 4.8v3.4M5.2 11a3.2 3.2 0 0 1 5.6 0M8 4.8h.01',
  dot: 'M8 8h.01',
  now: 'M1.5 8h3l2-5 3 10 2-5h3',
  runs: 'M2.5 4h11M2.5 8h11M2.5 12h7',
  knowledge: 'M2.5 2.5h4.5v4.5H2.5zM9 2.5h4.5v4.5H9zM2.5 9h4.5v4.5H2.5zM9 9h4.5v4.5H9z',
  quest: 'M3.5 14V2.5M3.5 3h8.5l-2 3 2 3H3.5',
  table: 'M8 1.8l5.5 3.1v6.2L8 14.2l-5.5-3.1V4.9zM8 8v6M8 8l5.4-3M8 8L2.6 5',
  figures: 'M2.5 13.5V9M6.2 13.5V5M9.8 13.5V7.5M13.5 13.5V2.5',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 1 0 0-9M10.4 10.4l3.1 3.1',
  theme: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  help: 'M6 6a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1.1M8 11.6h.01M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 1 0 8 1.8',
  star: 'M8 2l1.8 3.8 4.2.5-3.1 2.8.8 4.1L8 11.2l-3.7 2 .8-4.1L2 6.3l4.2-.5z',
  pin: 'M6 2.5h4l-.6 4 2.1 2.5h-7l2.1-2.5zM8 9v4.5',
  fold: 'M6 4l4 4-4 4',
  copy: 'M5.5 5.5h7v8h-7zM3.5 10.5v-8h7',
  download: 'M8 2.5v7.5M4.8 7.2L8 10.4l3.2-3.2M3 13.5h10',
  stop: 'M4 4h8v8H4z',
  close: 'M4 4l8 8M12 4l-8 8',
  next: 'M3.5 6l4.5 4.5L12.5 6',
  previous: 'M3.5 10L8 5.5l4.5 4.5',
  lane: 'M4 2.5v11M4 6c0 3 5 1.5 5 4.5v3',
  raw: 'M5.5 4L2 8l3.5 4M10.5 4L14 8l-3.5 4',
  compare: 'M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z',
};

/** afterPaint does something once what there is has been shown; the answer calls it off. */
export function afterPaint(act) {
  let timer = 0;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(act);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}
