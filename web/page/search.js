// Search in everything recorded: the entries that answer some words, the best first.

import {
  afterPaint,
  api,
  append,
  filters,
  h,
  heading,
  loading,
  oneLine,
  page,
  plain,
  query,
  replace,
  say,
  setFilters,
  t,
  trouble,
  typed,
  when,
} from './core.js';
import { runPath } from './runs.js';
import { projectName, roleOf } from './who.js';

const MOST = 100;
const FIRST = 20; // that are drawn before the others

/** register adds the page of the search. */
export function register() {
  page({ path: '/search', title: t.search.title, section: '/runs', render });
}

async function render(el, _, signal) {
  const { q = '' } = filters();
  const found = h('div', null);
  let asked = new AbortController();
  const look = async () => {
    asked.abort();
    asked = new AbortController();
    await show(found, field.value.trim(), asked.signal);
  };
  const later = typed(() => {
    setFilters({ q: field.value.trim() });
    look();
  });
  const field = h('input', {
    type: 'search',
    value: q,
    'aria-label': t.search.field,
    placeholder: t.search.field,
    class: 'grow',
    on: { input: later },
  });
  signal.addEventListener('abort', () => asked.abort());
  replace(
    el,
    heading(t.search.title),
    h(
      'form',
      { role: 'search', class: 'row filters', 'aria-label': t.search.title, on: { submit: (e) => e.preventDefault() } },
      field,
    ),
    found,
  );
  if (q) await look();
  else field.focus();
}

async function show(el, words, signal) {
  if (words === '') {
    replace(el);
    return;
  }
  replace(el, loading());
  try {
    const { hits, more } = await api(`/api/search${query({ q: words, n: MOST })}`, { signal });
    if (signal.aborted) return;
    say(t.search.found(hits.length, more));
    const list = h('ol', { class: 'hits' }, hits.slice(0, FIRST).map(row));
    replace(el, h('p', { class: 'muted num' }, t.search.found(hits.length, more)), list);
    afterPaint(() => append(list, hits.slice(FIRST).map(row)));
  } catch (err) {
    if (!signal.aborted) replace(el, trouble(err));
  }
}

function row(hit) {
  return h(
    'li',
    { class: 'hit' },
    h(
      'div',
      { class: 'run-title' },
      h(
        'a',
        { href: hitPath(hit) },
        oneLine(hit.title, 140) || t.runs.untitled,
      ),
    ),
    h('p', { class: 'foreign' }, marked(hit.snippet ?? '', hit.marks ?? [])),
    h(
      'div',
      { class: 'run-facts' },
      h('span', null, t.run.types[hit.entry_type] ?? oneLine(hit.entry_type, 40)),
      hit.tool_name ? h('span', null, oneLine(hit.tool_name, 60)) : null,
      hit.project ? h('span', { title: hit.project }, projectName(hit.project)) : null,
      roleOf(hit.role) ? h('span', null, roleOf(hit.role)) : null,
      hit.at ? when(hit.at) : null,
    ),
  );
}

/** marked shows where the words stand; marks count bytes, as the archive does. */
function marked(snippet, marks) {
  const bytes = new TextEncoder().encode(snippet);
  const text = (from, to) => plain(new TextDecoder().decode(bytes.slice(from, to)));
  const parts = [];
  let done = 0;
  for (const [from, to] of marks.slice(0, 50)) {
    if (from < done || to > bytes.length) continue;
    parts.push(text(done, from), h('mark', null, text(from, to)));
    done = to;
  }
  return [...parts, text(done)];
}

/** hitPath leads to an entry that was found: by its number, or where nobody knows that yet by its place. */
export const hitPath = (hit) =>
  hit.entry === undefined || hit.entry === null
    ? `${runPath(hit.run)}${query({ seq: hit.sequence_number, by: hit.lane })}`
    : runPath(hit.run, hit.entry);
