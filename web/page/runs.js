// The list of runs: filters in the address, as long as the archive is.

import {
  api,
  compact,
  costOf,
  filters,
  go,
  h,
  heading,
  key,
  listKeys,
  loading,
  mark,
  number,
  on,
  oneLine,
  page,
  query,
  replace,
  say,
  setFilters,
  t,
  trouble,
  typed,
  when,
} from './core.js';
import { VirtualList } from './list.js';
import { starButton, starKey } from './marks.js';
import { agentName, face, projectName, roleOf, state } from './who.js';

const PIECE = 100;
const ROW = 76;

/** register adds the page of all runs. */
export function register() {
  page({ path: '/runs', title: t.runs.title, nav: { label: t.runs.title, key: 'r', icon: 'runs' }, render });
}

async function render(el, _, signal) {
  const view = new Runs(signal);
  replace(el, h('div', { class: 'spread' }, heading(t.runs.title), view.count), view.form, view.bar, view.body);
  await Promise.all([view.load(), view.facets()]);
}

/** runPath is where a run is. */
export const runPath = (id, n) => `/run/${encodeURIComponent(id)}${n === undefined || n === null ? '' : `/${n}`}`;

class Runs {
  constructor(signal) {
    this.signal = signal;
    this.count = h('p', { class: 'muted num', 'aria-live': 'off' });
    this.body = h('div', { class: 'runs-body' }, loading());
    this.bar = h('div', { class: 'row noprint', hidden: true });
    this.chosen = new Map();
    this.form = this.filterForm();
    on('run', (event) => this.changed(event), signal);
    listKeys(() => this.list);
    key('o', t.runs.open, () => this.open(this.list?.current));
    starKey(() => this.inRow('.toggle-star'));
    key('x', t.runs.chooseKey, () => this.inRow('.choose input')?.click());
  }

  filterForm() {
    const now = filters();
    const words = h('input', {
      type: 'search',
      value: now.q ?? '',
      'aria-label': t.runs.search,
      placeholder: t.runs.search,
      class: 'grow',
      on: { input: typed(() => this.set({ q: words.value.trim() })) },
    });
    this.selects = ['state', 'project', 'agent', 'role'].map((name) => this.select(name, now[name]));
    const sort = h(
      'select',
      { 'aria-label': t.runs.sort, on: { change: () => this.set({ sort: sort.value === 'last' ? '' : sort.value }) } },
      Object.entries(t.runs.sorts).map(([value, text]) => h('option', { value, selected: value === now.sort }, text)),
    );
    const day = (name) =>
      h(
        'label',
        { class: 'small muted' },
        t.runs[name],
        ' ',
        h('input', {
          type: 'date',
          value: now[name] ?? '',
          on: { change: (e) => this.set({ [name]: e.target.value }) },
        }),
      );
    const star = h(
      'label',
      { class: 'check' },
      h('input', {
        type: 'checkbox',
        checked: now.star === '1',
        on: { change: (e) => this.set({ star: e.target.checked ? '1' : '' }) },
      }),
      t.runs.starred,
    );
    const clear = h('button', { type: 'button', class: 'quiet', on: { click: () => go('/runs') } }, t.runs.clear);
    return h(
      'form',
      { role: 'search', class: 'filters', 'aria-label': t.runs.filters, on: { submit: (e) => e.preventDefault() } },
      h('div', { class: 'row' }, words, sort, this.everywhere(words)),
      h(
        'details',
        {
          class: 'more-filters',
          open:
            window.innerWidth > 740 ||
            ['state', 'project', 'agent', 'role', 'since', 'until', 'star'].some((f) => now[f]),
        },
        h('summary', null, t.runs.filters),
        h('div', { class: 'row' }, this.selects, day('since'), day('until'), star, clear),
      ),
    );
  }

  /** everywhere leads to the search in all entries, with the words that stand here. */
  everywhere(words) {
    const follow = (event) => {
      event.preventDefault();
      go(`/search${query({ q: words.value.trim() })}`);
    };
    return h('a', { class: 'button', href: '/search', on: { click: follow } }, mark('search'), t.search.title);
  }

  select(name, value) {
    return h(
      'select',
      { 'aria-label': t.runs[name], dataset: { name }, on: { change: (e) => this.set({ [name]: e.target.value }) } },
      h('option', { value: '' }, `${t.runs[name]}: ${t.runs.any}`),
      value ? h('option', { value, selected: true }, oneLine(value, 60)) : null,
    );
  }

  async facets() {
    const all = await api('/api/runs/facets', { signal: this.signal }).catch(() => null);
    if (!all) return;
    const named = {
      state: (v) => t.states[v] ?? v,
      project: (v) => projectName(v),
      agent: agentName,
      role: (v) => oneLine(v, 60),
    };
    for (const select of this.selects) {
      const { name } = select.dataset,
        value = select.value;
      const counts = Object.entries(all[name] ?? {})
        .filter(([v]) => v !== '')
        .sort((a, b) => b[1] - a[1])
        .slice(0, 500);
      replace(
        select,
        h('option', { value: '' }, `${t.runs[name]}: ${t.runs.any}`),
        counts.map(([v, n]) =>
          h('option', { value: v, selected: v === value }, `${named[name](v) || t.runs.unnamed} (${number(n)})`),
        ),
      );
      select.value = value;
      select.hidden = counts.length === 0;
    }
  }

  set(changes) {
    setFilters(changes);
    this.load();
  }

  params(from) {
    const { q, state: st, project, agent, role, since, until, star, sort, kind } = filters();
    const day = (text, more) =>
      text && !Number.isNaN(Date.parse(text)) ? new Date(new Date(`${text}T00:00`).getTime() + more).toISOString() : '';
    return query({
      q,
      state: st,
      project,
      agent,
      role,
      kind,
      since: day(since, 0),
      until: day(until, 86400e3),
      star,
      sort,
      from,
      n: PIECE,
    });
  }

  /** load asks for the first piece; the others come when they are about to be seen. */
  async load({ stay = false } = {}) {
    this.asked?.abort();
    this.asked = new AbortController();
    this.signal.addEventListener('abort', () => this.asked.abort());
    const { signal } = this.asked;
    try {
      const first = await api(`/api/runs${this.params(0)}`, { signal });
      if (!signal.aborted) this.take(first, signal, stay);
    } catch (err) {
      if (!signal.aborted)
        replace(
          this.body,
          trouble(err, () => this.load()),
        );
    }
  }

  take(first, signal, stay) {
    const at = stay && this.items?.[this.list?.current]?.id;
    this.items = new Array(first.total);
    this.asking = new Set([0]);
    this.store(0, first.items);
    this.count.textContent = t.runs.found(first.total);
    say(t.runs.found(first.total));
    if (first.total === 0) {
      this.list = null;
      const filtered = Object.keys(filters()).some((name) => name !== 'sort');
      const [words, hint] = filtered ? [t.runs.none, t.runs.noneHint] : [t.runs.nothingYet, t.runs.nothingYetHint];
      replace(this.body, h('div', { class: 'empty' }, h('p', null, words), h('p', { class: 'muted' }, hint)));
      return;
    }
    const rows = {
      count: first.total,
      about: ROW,
      estimates: (from) => new Float64Array(first.total - from).fill(ROW),
      draw: (i) => this.row(i),
      need: (from, to) => {
        for (let p = Math.floor(from / PIECE); p <= Math.floor(to / PIECE); p++) this.piece(p, signal);
      },
    };
    if (this.list) {
      this.list.reset(rows, Math.max(0, first.items.findIndex((run) => run.id === at)));
      return;
    }
    this.list = new VirtualList(rows, { label: t.runs.list, role: 'list', rowRole: 'listitem', signal: this.signal });
    replace(this.body, this.list.el);
    this.list.el.addEventListener('click', (event) => this.leave(event.target.closest('.vrow')?.vindex), true);
    this.list.place();
    if (history.state?.row !== undefined) this.list.focusRow(history.state.row);
  }

  store(from, items) {
    for (let i = 0; i < items.length; i++) this.items[from + i] = items[i];
  }

  async piece(p, signal) {
    if (this.asking.has(p)) return;
    this.asking.add(p);
    try {
      const { items } = await api(`/api/runs${this.params(p * PIECE)}`, { signal });
      if (signal.aborted) return;
      this.store(p * PIECE, items);
      this.list?.redraw(p * PIECE, p * PIECE + PIECE - 1);
    } catch {
      this.asking.delete(p); // asked for again when it is seen again
    }
  }

  row(i) {
    const run = this.items[i];
    if (!run) return h('div', { class: 'run-row' }, h('span', { class: 'muted' }, t.loading));
    const title = oneLine(run.title, 200) || t.runs.untitled;
    return h(
      'div',
      {
        class: 'run-row',
        dataset: { run: run.id },
        'aria-label': `${title}, ${t.states[run.state] ?? run.state}`,
        on: {
          keydown: (e) => {
            if (e.key === 'Enter' && e.target === e.currentTarget) this.open(i);
          },
        },
      },
      h(
        'div',
        { class: 'run-main' },
        h('div', { class: 'run-title' }, face(run.role), h('a', { href: runPath(run.id) }, title)),
        h('div', { class: 'run-last foreign' }, oneLine(run.last, 220)),
      ),
      facts(run),
      h(
        'div',
        { class: 'run-tools noprint' },
        starButton(run.id, run.starred, (on2) => {
          run.starred = on2;
        }),
        this.chooser(run, title),
      ),
    );
  }

  chooser(run, title) {
    const box = h('input', {
      type: 'checkbox',
      checked: this.chosen.has(run.id),
      'aria-label': t.runs.choose(title),
      on: { change: () => this.choose(run, title, box.checked) },
    });
    return h('label', { class: 'choose', title: t.runs.compareHint }, box);
  }

  choose(run, title, yes) {
    if (yes) this.chosen.set(run.id, title);
    else this.chosen.delete(run.id);
    while (this.chosen.size > 2) {
      const [oldest] = this.chosen.keys();
      this.chosen.delete(oldest);
      this.list.redraw();
    }
    this.bar.hidden = this.chosen.size === 0;
    const both = [...this.chosen.keys()];
    replace(
      this.bar,
      both.length === 2
        ? h(
            'a',
            { class: 'button', href: `/compare/${both.map(encodeURIComponent).join('/')}` },
            mark('compare'),
            t.runs.compare,
          )
        : h('span', { class: 'muted' }, t.runs.compareHint),
    );
  }

  inRow(selector) {
    return this.list?.drawn.get(this.list.current)?.querySelector(selector);
  }

  open(i) {
    if (!this.items?.[i]) return;
    this.leave(i);
    go(runPath(this.items[i].id));
  }

  /** leave notes where one was, for who comes back. */
  leave(row) {
    if (row !== undefined) history.replaceState({ row }, '', location.href);
  }

  /** changed takes what the stream tells into the rows that are there, without moving them. */
  changed(event) {
    const i = this.items?.findIndex((run) => run?.id === event.run) ?? -1;
    if (i < 0) {
      this.fresh();
      return;
    }
    const run = this.items[i];
    Object.assign(run, {
      entries: event.entries ?? run.entries,
      state: event.state ?? run.state,
      last: event.last ?? run.last,
      last_at: event.last_at ?? event.at ?? run.last_at,
    });
    for (const k of ['cost_usd', 'cost_at_least', 'tokens']) if (event[k] !== undefined) run[k] = event[k];
    this.list?.redraw(i, i);
  }

  /** fresh reads the list again when somebody new has come, if one stands at its top. */
  fresh() {
    const away = () => this.list && (this.list.el.scrollTop > 0 || this.list.el.contains(document.activeElement));
    if (away()) return;
    clearTimeout(this.freshTimer);
    this.freshTimer = setTimeout(() => this.signal.aborted || away() || this.load({ stay: true }), 400);
  }
}

/** facts are what is known of a run, in a line. */
export function facts(run) {
  return h(
    'div',
    { class: 'run-facts' },
    state(run.state),
    run.project ? h('span', { title: run.project }, projectName(run.project)) : null,
    h('span', null, agentName(run.agent)),
    roleOf(run.role) ? h('span', null, roleOf(run.role)) : null,
    h('span', { class: 'num' }, t.runs.entries(run.entries ?? 0)),
    run.subagents ? h('span', null, t.runs.subagents(run.subagents)) : null,
    run.forks?.length ? h('span', null, t.runs.forks(run.forks.length)) : null,
    run.parent ? h('span', null, t.runs.forkOf) : null,
    run.tokens
      ? h('span', { class: 'num', title: t.run.tokensExact(run.tokens) }, t.run.tokens(run.tokens, compact(run.tokens)))
      : null,
    run.tokens ? h('span', { class: 'num' }, costOf(run)) : null,
    run.sealed ? h('span', null, t.runs.sealed) : null,
    run.pins?.length || run.pins > 0 ? h('span', null, t.run.pins(run.pins.length ?? run.pins)) : null,
    run.last_at ? when(run.last_at) : null,
  );
}
