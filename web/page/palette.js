// The palette (Ctrl-K): pages, what this page offers, runs and recorded words;
// and the help with every key.

import {
  api,
  boundKeys,
  go,
  h,
  key,
  mark,
  offers,
  oneLine,
  pages,
  query,
  replace,
  say,
  singleKeys,
  t,
} from './core.js';
import { hitPath } from './search.js';
import { projectName } from './who.js';

/** openPalette shows it, with the focus in its field. */
export function openPalette() {
  const palette = new Palette();
  document.body.append(palette.dialog);
  palette.dialog.showModal();
  palette.refresh();
}

class Palette {
  constructor() {
    this.items = [];
    this.at = 0;
    this.asked = new AbortController();
    this.list = h('ul', { id: 'palette-list', role: 'listbox', 'aria-label': t.palette.title, class: 'palette-list' });
    this.field = h('input', {
      type: 'text',
      role: 'combobox',
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-expanded': 'true',
      'aria-controls': 'palette-list',
      'aria-autocomplete': 'list',
      'aria-label': t.palette.title,
      placeholder: t.palette.placeholder,
      on: { input: () => this.refresh(), keydown: (e) => this.onKey(e) },
    });
    this.dialog = h(
      'dialog',
      {
        class: 'palette',
        'aria-label': t.palette.title,
        on: { close: () => this.end(), click: (e) => this.outside(e) },
      },
      h('div', { class: 'palette-field' }, mark('search'), this.field),
      this.list,
    );
  }

  end() {
    this.asked.abort();
    this.dialog.remove();
  }

  outside(event) {
    if (event.target === this.dialog) this.dialog.close();
  }

  /** refresh shows at once what is here, and asks the server for the rest. */
  refresh() {
    this.asked.abort();
    this.asked = new AbortController();
    const words = this.field.value.trim();
    this.show([...this.local(words)]);
    if (words.length > 1) setTimeout(() => this.remote(words, this.asked.signal), 120);
  }

  *local(words) {
    const fits = (name) =>
      words
        .toLowerCase()
        .split(/\s+/)
        .every((w) => name.toLowerCase().includes(w));
    for (const p of pages) {
      if (p.nav && fits(p.nav.label))
        yield { group: t.palette.pages, name: p.nav.label, icon: p.nav.icon, act: () => go(p.nav.href ?? p.path) };
    }
    for (const o of offers()) if (fits(o.name)) yield { group: t.palette.actions, name: o.name, act: o.act };
  }

  async remote(words, signal) {
    if (signal.aborted) return;
    const [runs, found] = await Promise.allSettled([
      api(`/api/runs${query({ q: words, n: 6 })}`, { signal }),
      api(`/api/search${query({ q: words, n: 8 })}`, { signal }),
    ]);
    if (signal.aborted) return;
    this.show([
      ...this.local(words),
      ...(runs.value?.items ?? []).map(runItem),
      ...(found.value?.hits ?? []).map(hitItem),
      everything(words),
    ]);
  }

  show(items) {
    this.items = items;
    this.at = Math.min(this.at, Math.max(0, items.length - 1));
    replace(
      this.list,
      items.length
        ? items.map((item, i) => this.row(item, i))
        : h('li', { class: 'muted', role: 'presentation' }, t.palette.none),
    );
    this.move(0);
    say(t.palette.results(items.length));
  }

  row(item, i) {
    const group = this.items[i - 1]?.group !== item.group ? h('span', { class: 'palette-group' }, item.group) : null;
    return h(
      'li',
      {
        id: `palette-${i}`,
        role: 'option',
        'aria-selected': 'false',
        on: { click: () => this.take(i), mousemove: () => this.move(i - this.at) },
      },
      group,
      item.icon ? mark(item.icon) : null,
      h('span', { class: 'palette-name' }, item.name),
      item.detail ? h('span', { class: 'muted' }, item.detail) : null,
    );
  }

  move(by) {
    const rows = this.list.querySelectorAll('[role=option]');
    rows[this.at]?.setAttribute('aria-selected', 'false');
    this.at = rows.length ? (this.at + by + rows.length) % rows.length : 0;
    rows[this.at]?.setAttribute('aria-selected', 'true');
    rows[this.at]?.scrollIntoView({ block: 'nearest' });
    if (rows.length) this.field.setAttribute('aria-activedescendant', `palette-${this.at}`);
    else this.field.removeAttribute('aria-activedescendant');
  }

  onKey(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) this.move(moves[event.key]);
    else if (event.key === 'Enter') this.take(this.at);
    else return;
    event.preventDefault();
  }

  take(i) {
    const item = this.items[i];
    if (!item) return;
    this.dialog.close();
    item.act();
  }
}

function runItem(run) {
  return {
    group: t.palette.runs,
    icon: 'runs',
    name: oneLine(run.title || run.id, 90),
    detail: oneLine(run.project ?? '', 40),
    act: () => go(`/run/${encodeURIComponent(run.id)}`),
  };
}

function hitItem(hit) {
  return {
    group: t.palette.entries,
    icon: 'search',
    name: oneLine(hit.snippet ?? '', 110),
    detail: projectName(hit.project),
    act: () => go(hitPath(hit)),
  };
}

const everything = (words) => ({
  group: t.palette.entries,
  icon: 'search',
  name: t.palette.everything(oneLine(words, 60)),
  act: () => go(`/search${query({ q: words })}`),
});

/** openHelp shows every key that does something now. */
export function openHelp() {
  const rows = (here) =>
    boundKeys()
      .filter((b) => b.here === here)
      .map((b) => [
        h(
          'dt',
          null,
          b.key.split(' ').map((k) => h('kbd', null, k.replace('Ctrl+', 'Ctrl ').replace('Page', 'Page '))),
        ),
        h('dd', null, b.does()),
      ]);
  const single = h('input', {
    type: 'checkbox',
    checked: singleKeys.on,
    on: {
      change: (e) => {
        singleKeys.on = e.target.checked;
      },
    },
  });
  const here = rows(true);
  const dialog = h(
    'dialog',
    { class: 'help', 'aria-labelledby': 'help-title', on: { close: () => dialog.remove() } },
    h('h2', { id: 'help-title' }, t.help.title),
    here.length ? [h('h3', null, t.help.here), h('dl', { class: 'keys' }, here)] : null,
    h('h3', null, t.help.everywhere),
    h('dl', { class: 'keys' }, rows(false)),
    h('label', { class: 'check' }, single, ' ', t.help.single),
    h('p', { class: 'muted' }, t.help.singleHint),
    h('form', { method: 'dialog' }, h('button', null, t.close)),
  );
  document.body.append(dialog);
  dialog.showModal();
}

const searchField = () => document.querySelector('#main [type=search]');

/** search leads to the search of the page, or to the palette where it has none. */
function search() {
  const field = searchField();
  if (field) field.focus();
  else openPalette();
}

/** bindKeys binds the keys that work on every page. */
export function bindKeys() {
  const everywhere = { everywhere: true };
  key('Ctrl+k', t.help.palette, openPalette, everywhere);
  key('?', t.help.help, openHelp, everywhere);
  key('/', () => (searchField() ? t.help.search : t.help.palette), search, everywhere);
  for (const p of pages)
    if (p.nav?.key) key(`g ${p.nav.key}`, t.help.goTo(p.nav.label), () => go(p.nav.href ?? p.path), everywhere);
}
