// Now: what works and what waits for a person, everywhere, live.

import { api, costOf, h, heading, loading, on, oneLine, page, query, replace, say, t, when } from './core.js';
import { runPath } from './runs.js';
import { agentName, face, projectName, roleOf, state } from './who.js';

/** register adds the page of what happens now. */
export function register() {
  page({ path: '/now', title: t.now.title, nav: { label: t.now.title, key: 'n', icon: 'now' }, render });
}

async function render(el, _, signal) {
  const body = h('div', null, loading());
  replace(el, heading(t.now.title), h('p', { class: 'lede' }, t.now.lede), body);
  let last = '';
  let timer = 0;
  const load = async () => {
    const { items, workspaces } = await api('/api/now', { signal });
    if (signal.aborted) return;
    draw(body, items ?? [], workspaces);
    const count = (name) => (items ?? []).filter((item) => item.state === name).length;
    const words = t.now.changed(count('waiting'), count('working'));
    if (last && words !== last) say(words); // not at every word that somebody writes
    last = words;
  };
  const soon = () => {
    timer ||= setTimeout(() => {
      timer = 0;
      load().catch(() => {});
    }, 60);
  };
  for (const kind of ['run', 'now', 'began', 'question', 'withdraw', 'done', 'lost', 'connected']) on(kind, soon, signal);
  const slow = setInterval(() => load().catch(() => {}), 30000);
  signal.addEventListener('abort', () => {
    clearInterval(slow);
    clearTimeout(timer);
  });
  await load();
}

function draw(body, items, workspaces) {
  const groups = [
    [t.now.waiting, items.filter((item) => item.state === 'waiting')],
    [t.now.working, items.filter((item) => item.state === 'working')],
    [t.now.rest, items.filter((item) => item.state !== 'waiting' && item.state !== 'working')],
  ].filter(([, list]) => list.length > 0);
  if (groups.length === 0) {
    replace(
      body,
      h('div', { class: 'empty' }, h('p', null, t.now.nothing(workspaces)), h('p', { class: 'muted' }, t.now.nothingHint)),
    );
    return;
  }
  const focused = body.contains(document.activeElement) ? document.activeElement.getAttribute('href') : null;
  replace(
    body,
    groups.map(([name, list]) => [
      h('h2', null, name, ' ', h('span', { class: 'muted num' }, list.length)),
      h('ul', { class: 'now-list' }, list.map(row)),
    ]),
  );
  if (focused)
    [...body.querySelectorAll('a')].find((a) => a.getAttribute('href') === focused)?.focus({ preventScroll: true });
}

function row(item) {
  const title = item.kind === 'job' ? (t.jobs.verbs[item.verb] ?? item.verb) : item.title;
  const told = stands(item);
  return h(
    'li',
    { class: 'now-row', dataset: { kind: item.kind, run: item.run ?? null } },
    state(item.state),
    h(
      'div',
      { class: 'run-main' },
      h(
        'div',
        { class: 'run-title' },
        face(item.role),
        h('a', { href: placeOf(item) }, oneLine(title, 160) || t.runs.untitled),
      ),
      told.length > 0 ? h('div', { class: 'small' }, told.join(' · ')) : null,
      item.last ? h('div', { class: 'run-last foreign' }, oneLine(item.last, 240)) : null,
    ),
    h(
      'div',
      { class: 'run-facts' },
      item.kind === 'run' ? null : h('span', { class: 'badge' }, t.now.kinds[item.kind] ?? oneLine(item.kind, 20)),
      item.workspace ? h('span', { title: item.workspace }, projectName(item.workspace)) : null,
      item.agent ? h('span', null, agentName(item.agent)) : null,
      roleOf(item.role) ? h('span', null, roleOf(item.role)) : null,
      h('span', { class: 'num' }, costOf(item)),
      item.at ? when(item.at) : null,
    ),
  );
}

/** stands says in a few words how far something is, and what it waits for. */
function stands(item) {
  const names = (list) => list.slice(0, 6).map((name) => oneLine(name, 80));
  const told = [];
  if (item.phase) told.push(t.now.phase(item.phase, oneLine(item.phase_name, 60)));
  if (item.asked) told.push(t.now.asks);
  else if (item.fault) told.push(t.now.fault(oneLine(item.fault, 200)));
  else if (item.awaited?.length) told.push(t.now.awaits(names(item.awaited)));
  else if (item.kind === 'table' && item.state === 'waiting') told.push(t.now.inSession);
  else if (item.next?.length) told.push(t.now.next(names(item.next)));
  return told;
}

/** placeOf is where one goes on with something: its own page here, elsewhere what was said last. */
function placeOf(item) {
  if (item.here && item.kind !== 'run') {
    if (item.name) return `/table/${encodeURIComponent(item.name)}`;
    return item.kind === 'table' || TABLE_VERBS.has(item.verb) ? '/table' : '/quest';
  }
  return item.run ? runPath(item.run) : `/runs${query({ project: item.workspace })}`;
}

/** What is begun without a table. */
const TABLE_VERBS = new Set(['NewTable', 'TalkNewTable']);
