// What every page builds on: the registry of pages, the router, keys, and the
// voice for those who listen. It passes on dom, plain, format and net, so that
// a page imports one module.
//
// A page is a module that exports register(core) and calls page() in it. Its
// render gets an element, the parameters of its path, and a signal that ends
// when the person goes elsewhere: everything that it starts hangs on that.

import { h, replace } from './dom.js';
import { plain } from './plain.js';
import { t } from './texts.js';

export * from './dom.js';
export * from './plain.js';
export * from './format.js';
export { api, ask, download, on, query, Refused } from './net.js';
export { t };

/**
 * @typedef {object} Page
 * @property {string} path       with parameters: "/run/:id/:n?"
 * @property {string} title
 * @property {{label: string, key: string, icon: string, href?: string}} [nav] its place in the menu; key is for g KEY
 * @property {(el: HTMLElement, params: Record<string, string>, signal: AbortSignal) => any} render
 */

/** @type {Page[]} in the order of their registration */
export const pages = [];

/** What the server said of itself in the shell. */
export const readOnly = document.documentElement.dataset.readOnly === 'true';
export const version = document.documentElement.dataset.version ?? '';

let current = new AbortController();

/** page adds a page to the registry. @param {Page} given */
export function page(given) {
  const names = [];
  const form = given.path.replace(/\/:(\w+)(\?|\*)?/g, (_, name, more) => {
    names.push(name);
    return more === '*' ? '(?:/(.+))?' : more === '?' ? '(?:/([^/]+))?' : '/([^/]+)';
  });
  pages.push({ ...given, names, form: new RegExp(`^${form}/?$`) });
}

function find(path) {
  for (const p of pages) {
    const found = p.form.exec(path);
    if (found)
      return [
        p,
        Object.fromEntries(
          p.names.map((name, i) => [name, found[i + 1] === undefined ? undefined : decode(found[i + 1])]),
        ),
      ];
  }
  return [null, {}];
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** go leads to another address of this page. */
export function go(href, { replace: instead = false } = {}) {
  if (instead) history.replaceState(null, '', href);
  else history.pushState(null, '', href);
  return show();
}

/** rewrite changes the address without leading anywhere: filters, where one stands. */
export function rewrite(href) {
  if (href !== location.pathname + location.search) history.replaceState(null, '', href);
}

/** filters are the query of the address; set one to change it, null to remove it. */
export function filters() {
  return Object.fromEntries(new URLSearchParams(location.search));
}

/** setFilters writes filters into the address. */
export function setFilters(changes) {
  const all = new URLSearchParams(location.search);
  for (const [key, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '') all.delete(key);
    else all.set(key, value);
  }
  rewrite(location.pathname + (all.size ? `?${all}` : ''));
}

let shown = '';

/** show renders the page of the address. */
export async function show({ focus = true } = {}) {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  clearKeys();
  const [found, params] = find(location.pathname);
  const main = document.getElementById('main');
  const pressed = shown === location.pathname && main.contains(document.activeElement) ? document.activeElement : null;
  shown = location.pathname;
  const el = h('div', { class: 'page' });
  main.setAttribute('aria-busy', 'true');
  replace(main, el);
  document.body.dataset.page = found?.path ?? '';
  markMenu(found);
  titled(found?.title ?? t.noPage);
  window.scrollTo(0, 0);
  try {
    if (found) await found.render(el, params, signal);
    else append404(el);
  } catch (err) {
    if (!signal.aborted)
      replace(
        el,
        heading(found?.title ?? t.failed),
        trouble(err, () => show()),
      );
  }
  if (signal.aborted) return;
  if (focus) focusPage(el, pressed);
  main.setAttribute('aria-busy', 'false');
}

function append404(el) {
  replace(el, heading(t.noPage), h('p', null, t.noPageHint));
}

/** heading is a page's h1, which takes the focus when the page opens. */
export function heading(text, ...more) {
  return h('h1', { tabindex: '-1' }, plain(text), ...more);
}

/** focusPage gives the focus to the heading; where a page changed by what was pressed on it, to that. */
function focusPage(el, pressed) {
  if (el.contains(document.activeElement)) return;
  const named = (x) => x.getAttribute('aria-label') ?? (x.id || x.textContent);
  const same = pressed && [...el.querySelectorAll(pressed.tagName)].find((x) => named(x) === named(pressed));
  if (same) same.focus();
  else el.querySelector('h1')?.focus({ preventScroll: true });
}

/** titled names the document. */
export function titled(text) {
  document.title = text === t.name ? t.name : `${plain(text)} · ${t.name}`;
}

function markMenu(found) {
  for (const a of document.querySelectorAll('#menu a')) {
    const here = found && a.dataset.section === (found.section ?? '/' + found.path.split('/')[1]);
    if (here) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
}

/**
 * trouble is an error as the person can use it: what was said, and a way out.
 * @param {Error} err
 * @param {() => void} [again]
 */
export function trouble(err, again) {
  return h(
    'div',
    { class: 'trouble', role: 'alert' },
    h('strong', null, t.failed),
    h('p', null, plain(err.message)),
    again ? h('button', { type: 'button', on: { click: again } }, t.again) : null,
  );
}

/** loading is what stands where something is being read. */
export const loading = () => h('p', { class: 'muted loading' }, t.loading);

const PAUSE = 10; // milliseconds without a key

/** typed is act, done once a person has stopped typing for a moment. */
export function typed(act) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, PAUSE);
  };
}

let saying = 0;

/** say tells those who listen, politely; of what comes at once they hear the last. */
export function say(text) {
  clearTimeout(saying);
  saying = setTimeout(() => {
    document.getElementById('live').textContent = plain(text);
  }, 120);
}

/** notice shows a message, the longer the more it says and as long as a pointer is on it, and says it. */
export function notice(text) {
  say(text);
  const el = h('div', { class: 'notice' }, plain(text));
  document.getElementById('notices').append(el);
  const leave = () => (el.matches(':hover') ? setTimeout(leave, 1000) : el.remove());
  setTimeout(leave, 4000 + 50 * text.length);
}

/** copyButton copies a text for the person. */
export function copyButton(text, label = t.copy) {
  return h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      on: {
        click: async () => {
          try {
            await navigator.clipboard.writeText(text);
            notice(t.copied);
          } catch (err) {
            notice(err.message);
          }
        },
      },
    },
    label,
  );
}

// Keys. Those of one letter can be turned off (WCAG 2.1.4).

const SINGLE = 'conclave-single-keys';
/** @type {{key: string, does: () => string, run?: (event: KeyboardEvent) => void, here: boolean}[]} */
const bound = [];

export const singleKeys = {
  get on() {
    return localStorage.getItem(SINGLE) !== 'off';
  },
  set on(value) {
    localStorage.setItem(SINGLE, value ? 'on' : 'off');
  },
};

/**
 * key binds a key of this page (or, with everywhere, of all) to what it does;
 * "g r" is two keys in a row. What it does stands in the help: words, or a function
 * that gives them when somebody asks. Without run something else listens to it.
 */
export function key(name, does, run, { everywhere = false } = {}) {
  bound.push({ key: name, does: typeof does === 'function' ? does : () => does, run, here: !everywhere });
}

/** listKeys binds the keys of a long list, and tells of those to which it listens itself. */
export function listKeys(list) {
  key('j', t.help.next, () => list()?.step(1));
  key('k', t.help.previous, () => list()?.step(-1));
  for (const [name, does] of Object.entries(t.help.inList)) key(name, does);
}

/** boundKeys are the keys that do something now: what a page does with one goes before what all do. */
export const boundKeys = () => bound.filter((b, i) => !bound.some((o, at) => at > i && o.key === b.key));

function clearKeys() {
  bound.splice(0, bound.length, ...bound.filter((b) => !b.here));
}

let pressed = '';
let pressedAt = 0;

function typing(el) {
  return (
    el instanceof HTMLElement &&
    (el.isContentEditable || el.matches('input:not([type=checkbox]):not([type=radio]), textarea, select'))
  );
}

export function onKey(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey) return;
  if (event.ctrlKey || event.metaKey) {
    run(`Ctrl+${event.key.toLowerCase()}`, event);
    return;
  }
  if (typing(event.target) || !singleKeys.on || document.querySelector('dialog[open]')) return;
  const two = performance.now() - pressedAt < 1500 ? `${pressed} ${event.key}` : '';
  pressed = event.key;
  pressedAt = performance.now();
  if (!(two && run(two, event))) run(event.key, event);
}

function run(name, event) {
  const found = bound.findLast((b) => b.run && b.key === name);
  if (!found) return false;
  event.preventDefault();
  pressed = '';
  found.run(event);
  return true;
}

// Things that the palette offers while a page is open.

const offered = [];

/** offer puts an action of this page into the palette until signal ends. */
export function offer(name, act, signal) {
  const item = { name, act };
  offered.push(item);
  signal?.addEventListener('abort', () => offered.splice(offered.indexOf(item), 1));
}

export const offers = () => offered.slice();
