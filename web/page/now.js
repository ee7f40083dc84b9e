// Now: what works and what waits for a person, everywhere, live.

import { api, h, heading, loading, money, on, oneLine, page, replace, say, t, when } from './core.js';
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
    const { items } = await api('/api/now', { signal });
    if (signal.aborted) return;
    draw(body, items ?? []);
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
  for (const kind of ['run', 'job', 'question', 'withdraw', 'done']) on(kind, soon, signal);
  const slow = setInterval(() => load().catch(() => {}), 30000);
  signal.addEventListener('abort', () => {
    clearInterval(slow);
    clearTimeout(timer);
  });
  await load();
}

function draw(body, items) {
  const groups = [
    [t.now.waiting, items.filter((item) => item.state === 'waiting')],
    [t.now.working, items.filter((item) => item.state === 'working')],
    [t.now.rest, items.filter((item) => item.state !== 'waiting' && item.state !== 'working')],
  ].filter(([, list]) => list.length > 0);
  if (groups.length === 0) {
    replace(
      body,
      h('div', { class: 'empty' }, h('p', null, t.now.nothing), h('p', { class: 'muted' }, t.now.nothingHint)),
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
  return h(
    'li',
    { class: 'now-row', dataset: { run: item.run ?? null } },
    state(item.state),
    h(
      'div',
      { class: 'run-main' },
      h(
        'div',
        { class: 'run-title' },
        face(item.role),
        h('a', { href: placeOf(item) }, oneLine(item.title, 160) || t.runs.untitled),
      ),
      h('div', { class: 'run-last foreign' }, oneLine(item.last, 240)),
    ),
    h(
      'div',
      { class: 'run-facts' },
      item.kind === 'run' ? null : h('span', { class: 'badge' }, t.now.kinds[item.kind] ?? oneLine(item.kind, 20)),
      item.workspace ? h('span', { title: item.workspace }, projectName(item.workspace)) : null,
      item.agent ? h('span', null, agentName(item.agent)) : null,
      roleOf(item.role) ? h('span', null, roleOf(item.role)) : null,
      item.cost_usd === undefined ? null : h('span', { class: 'num' }, money(item.cost_usd)),
      item.at ? when(item.at) : null,
    ),
  );
}

function placeOf(item) {
  if (item.kind === 'table' && item.name) return `/table/${encodeURIComponent(item.name)}`;
  if (!item.run) return '/quest';
  return runPath(item.run);
}
