// Two runs side by side: what differs first, then both conversations.

import {
  api,
  compact,
  costOf,
  go,
  h,
  heading,
  loading,
  number,
  oneLine,
  page,
  query,
  replace,
  span,
  t,
  titled,
  typed,
} from './core.js';
import { RunData } from './rundata.js';
import { runPath } from './runs.js';
import { Talk } from './talk.js';
import { agentName, state } from './who.js';

/** register adds the page of two runs. */
export function register() {
  page({ path: '/compare/:a/:b?', title: t.compare.title, section: '/runs', render });
}

async function render(el, { a, b }, signal) {
  if (b === undefined) {
    await choose(el, a, signal);
    return;
  }
  replace(el, heading(t.compare.title), loading());
  const both = await Promise.all([a, b].map((id) => new RunData(id, signal).open(0)));
  if (signal.aborted) return;
  titled(t.compare.title);
  const talks = both.map(
    (data, i) => new Talk(data, { signal, pins: [], seen: null, alone: false, label: t.compare.side(i + 1) }),
  );
  replace(
    el,
    heading(t.compare.title),
    table(both),
    h(
      'div',
      { class: 'sides' },
      both.map((data, i) =>
        h(
          'section',
          { 'aria-label': t.compare.side(i + 1) },
          h('h2', null, h('a', { href: runPath(data.id) }, oneLine(data.head.title, 120) || t.runs.untitled)),
          talks[i].el,
        ),
      ),
    ),
  );
  await Promise.all(talks.map((talk) => talk.begin()));
}

async function choose(el, id, signal) {
  const list = h('ul', { class: 'now-list' });
  const field = h('input', { type: 'search', 'aria-label': t.compare.other, placeholder: t.compare.other });
  const load = async () => {
    const { items } = await api(`/api/runs${query({ q: field.value.trim(), n: 30 })}`, { signal });
    replace(
      list,
      items
        .filter((run) => run.id !== id)
        .map((run) =>
          h(
            'li',
            { class: 'now-row' },
            state(run.state),
            h(
              'a',
              { href: `/compare/${encodeURIComponent(id)}/${encodeURIComponent(run.id)}` },
              oneLine(run.title, 140) || t.runs.untitled,
            ),
          ),
        ),
    );
  };
  field.addEventListener(
    'input',
    typed(() => load().catch(() => {})),
  );
  replace(
    el,
    heading(t.compare.title),
    h('p', { class: 'lede' }, t.compare.choose),
    h(
      'div',
      { class: 'row' },
      field,
      h('button', { type: 'button', class: 'quiet', on: { click: () => go(runPath(id)) } }, t.compare.back),
    ),
    list,
  );
  await load();
}

function table(both) {
  const length = ({ head }) =>
    head.began && head.last_at ? (new Date(head.last_at) - new Date(head.began)) / 1000 : null;
  const calls = ({ head }) => (head.tools ?? []).reduce((n, tool) => n + tool.calls, 0);
  const failed = ({ head }) => (head.tools ?? []).reduce((n, tool) => n + tool.failed, 0);
  const rows = [
    [t.compare.agent, (d) => agentName(d.head.agent)],
    [t.compare.model, (d) => oneLine(d.head.model, 60) || t.unknown],
    [t.run.cards.entries, (d) => number(d.total)],
    [t.run.cards.tokens, (d) => compact(d.head.tokens)],
    [t.run.cards.cost, (d) => costOf(d.head)],
    [t.run.cards.length, (d) => span(length(d))],
    [t.compare.calls, (d) => number(calls(d))],
    [t.compare.failed, (d) => number(failed(d))],
    [t.compare.edits, (d) => number((d.head.edits?.length ?? 0) + (d.head.more_edits ?? 0))],
    [t.compare.subagents, (d) => number(d.head.subagents ?? 0)],
  ];
  const differ = rows.map(([, of]) => of(both[0]) !== of(both[1]));
  const line = (data, k) =>
    h(
      'tr',
      null,
      h('th', { scope: 'row' }, t.compare.side(k + 1)),
      rows.map(([, of], i) => h('td', { class: differ[i] ? 'num' : 'num muted' }, of(data))),
    );
  const head = [h('td', null), rows.map(([name]) => h('th', { scope: 'col', class: 'num' }, name))];
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': t.compare.figures },
    h('table', { class: 'compare-table' }, h('thead', null, h('tr', null, head)), h('tbody', null, both.map(line))),
  );
}
