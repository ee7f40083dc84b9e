// Figures: what was used, by whom and when; what the quest cost. Without a price
// a cost is not known, and that is what is said.

import {
  api,
  compact,
  counted,
  filters,
  go,
  h,
  heading,
  number,
  page,
  plain,
  query,
  replace,
  spent,
  t,
  titled,
  usedCost,
} from './core.js';
import { bars, heat, levels } from './plot.js';

const k = t.figures;
const GROUPS = ['day', 'model', 'project', 'role', 'session'];

export function register() {
  page({ path: '/figures', title: k.title, nav: { label: k.title, key: 'f', icon: 'figures' }, render });
}

async function render(el, _, signal) {
  const by = GROUPS.includes(filters().by) ? filters().by : 'day',
    since = filters().since ?? '30d';
  titled(k.title);
  const used = await api(`/api/usage${query({ by, since: since === 'all' ? '' : since })}`, { signal });
  const more = h('div');
  replace(
    el,
    h(
      'div',
      { class: 'spread' },
      heading(k.title),
      h(
        'nav',
        { class: 'row', 'aria-label': k.more },
        h('a', { href: '/sql' }, t.sql.title),
        h('a', { href: '/bundles' }, t.bundles.title),
      ),
    ),
    h('p', { class: 'lede' }, k.lede),
    choose(k.by, k.groups, GROUPS, by, (to) => ({ by: to })),
    choose(k.since, k.spans, Object.keys(k.spans), since, (to) => ({ since: to })),
    cards(used),
    plotOf(used, by),
    tableOf(used, by),
    notes(used),
    more,
  );
  fill(more, signal);
}

/** fill adds what may take longer, or may not be there. */
async function fill(el, signal) {
  const [rhythm, quest] = await Promise.all([
    rhythmOf(signal).catch(() => null),
    api('/api/quest', { signal }).catch(() => null),
  ]);
  if (signal.aborted) return;
  replace(el, rhythm, quest ? questCost(quest) : null);
}

function choose(label, names, list, at, change) {
  return h(
    'div',
    { class: 'seats', role: 'group', 'aria-label': label },
    h('span', { class: 'label' }, label),
    list.map((one) =>
      h(
        'button',
        {
          type: 'button',
          'aria-pressed': String(one === at),
          on: { click: () => go(`/figures${query({ ...filters(), ...change(one) })}`) },
        },
        names[one],
      ),
    ),
  );
}

function cards({ total }) {
  const cached = total.input_tokens + total.cache_read_tokens + total.cache_write_tokens;
  const one = (name, figure, about) =>
    h(
      'div',
      { class: 'card' },
      h('div', { class: 'label' }, name),
      h('div', { class: 'figure' }, figure),
      h('div', { class: 'muted small' }, about),
    );
  return h(
    'div',
    { class: 'cards' },
    one(
      k.cost,
      usedCost(total),
      !total.responses ? k.nothing : total.unpriced_responses ? k.without(total.unpriced_responses) : k.known,
    ),
    one(k.tokens, compact(total.total_tokens), counted(total.responses, 'response', 'responses')),
    one(k.output, compact(total.output_tokens), k.written),
    one(k.cache, cached ? `${Math.round((100 * total.cache_read_tokens) / cached)} %` : t.unknown, k.cacheAbout),
  );
}

const named = (g) => (g.name === '' ? k.nameless : g.name);

function plotOf({ groups }, by) {
  if (groups.length === 0) return h('p', { class: 'muted' }, k.nothing);
  if (by === 'day') {
    return bars({
      title: k.tokensBy(k.groups[by].toLowerCase()),
      names: [k.input, k.output, k.cacheRead, k.cacheWrite],
      yText: compact,
      items: everyDay(groups).map((g) => ({ label: g.name, parts: partsOf(g) })),
    });
  }
  const most = groups.toSorted((a, b) => b.total_tokens - a.total_tokens).slice(0, 20);
  return levels({
    title: k.tokensBy(k.groups[by].toLowerCase()),
    text: compact,
    items: most.map((g) => ({ label: named(g), value: g.total_tokens })),
  });
}

const partsOf = (g) => [g.input_tokens, g.output_tokens, g.cache_read_tokens, g.cache_write_tokens].map((n) => n ?? 0);

/** everyDay has a day without use, too, up to a year of them. */
function everyDay(groups) {
  const known = new Map(groups.map((g) => [g.name, g]));
  const names = [...known.keys()].filter((name) => /^\d{4}-\d\d-\d\d$/.test(name)).sort();
  if (names.length === 0) return groups;
  const days = [];
  const last = [names.at(-1), dayKey(new Date())].sort().at(-1);
  for (let at = new Date(`${names[0]}T12:00:00Z`); days.length < 366; at = new Date(at.getTime() + 864e5)) {
    const name = at.toISOString().slice(0, 10);
    if (name > last) break;
    days.push(known.get(name) ?? { name });
  }
  return days.length < 366 ? days : names.map((name) => known.get(name));
}

function tableOf(used, by) {
  if (used.groups.length === 0) return null;
  const head = [k.groups[by], k.responses, k.input, k.output, k.cacheRead, k.cacheWrite, k.tokens, k.cost];
  const row = (g) => [
    named(g),
    number(g.responses),
    ...[g.input_tokens, g.output_tokens, g.cache_read_tokens, g.cache_write_tokens, g.total_tokens].map(number),
    usedCost(g),
  ];
  const list =
    by === 'day'
      ? used.groups.toSorted((a, b) => (a.name < b.name ? 1 : -1))
      : used.groups.toSorted((a, b) => b.total_tokens - a.total_tokens);
  return h(
    'section',
    null,
    h(
      'div',
      { class: 'spread' },
      h('h2', null, k.inNumbers),
      h(
        'button',
        {
          type: 'button',
          class: 'quiet',
          on: {
            click: () =>
              saveCSV(
                `usage-by-${by}.csv`,
                head,
                list.map((g) => [
                  g.name,
                  g.responses,
                  g.input_tokens,
                  g.output_tokens,
                  g.cache_read_tokens,
                  g.cache_write_tokens,
                  g.total_tokens,
                  g.unpriced_responses >= g.responses ? '' : g.cost_usd,
                ]),
              ),
          },
        },
        k.csv,
      ),
    ),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': k.inNumbers },
      h(
        'table',
        null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            head.map((text, i) => h('th', { scope: 'col', class: i ? 'num' : null }, text)),
          ),
        ),
        h(
          'tbody',
          null,
          list.slice(0, 500).map((g) =>
            h(
              'tr',
              null,
              row(g).map((text, i) => (i ? h('td', { class: 'num' }, text) : h('th', { scope: 'row' }, plain(text)))),
            ),
          ),
        ),
        h(
          'tfoot',
          null,
          h(
            'tr',
            null,
            row({ ...used.total, name: k.total }).map((text, i) =>
              i ? h('td', { class: 'num' }, text) : h('th', { scope: 'row' }, text),
            ),
          ),
        ),
      ),
    ),
    list.length > 500 ? h('p', { class: 'muted' }, k.first(500, list.length)) : null,
  );
}

function notes(used) {
  return [
    used.unpriced_models?.length
      ? h('p', { class: 'muted small' }, k.unpriced(used.unpriced_models.map(plain).join(', ')))
      : null,
    used.copies ? h('p', { class: 'muted small' }, k.copies(used.copies)) : null,
    (used.problems ?? []).map((p) => h('p', { class: 'tell warn' }, plain(p))),
  ];
}

function questCost(quest) {
  if (quest.none || !quest.costs?.length) return null;
  const by = new Map();
  for (const c of quest.costs) {
    const sum = by.get(c.role) ?? { tokens: 0 };
    by.set(c.role, { tokens: sum.tokens + c.input_tokens + c.output_tokens });
  }
  const rows = [...by].map(([role, sum]) => ({ role, ...sum }));
  return h(
    'section',
    null,
    h('h2', null, k.questCost(plain(quest.title))),
    rows.every((r) => r.tokens === 0)
      ? h('p', { class: 'muted' }, t.quest.noTokens)
      : levels({
          title: k.tokensBy(t.quest.role.toLowerCase()),
          text: compact,
          items: rows.map((r) => ({ label: r.role, value: r.tokens })),
        }),
    h('p', null, h('a', { href: '/quest' }, t.quest.costs), ` · ${spent(quest.costs)}`),
  );
}

// When: days as a calendar, hours of the week; in the reader's zone.

const HOURS = `SELECT substr(timestamp, 1, 13) AS hour, sum(total) AS tokens, count(*) AS responses FROM usage
WHERE timestamp >= strftime('%Y-%m-%dT%H', 'now', '-180 days') GROUP BY 1 ORDER BY 1`;

async function rhythmOf(signal) {
  const { rows } = await api('/api/sql', { body: { query: HOURS }, signal });
  if (rows.length === 0) return null;
  const week = Array.from({ length: 7 }, () => Array(24).fill(0)),
    days = new Map();
  for (const [hour, tokens] of rows) {
    const at = new Date(`${hour.replace(' ', 'T')}:00:00Z`);
    if (Number.isNaN(at.getTime())) continue;
    week[(at.getDay() + 6) % 7][at.getHours()] += tokens;
    const day = dayKey(at);
    days.set(day, (days.get(day) ?? 0) + tokens);
  }
  return h(
    'section',
    null,
    h('h2', null, k.when),
    h('p', { class: 'muted' }, k.whenHint),
    calendar(days),
    heat({
      title: k.hourOfWeek,
      rows: k.days,
      columns: Array.from({ length: 24 }, (_, i) => String(i)),
      values: week,
      text: compact,
    }),
  );
}

const dayMonth = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const dayKey = (at) =>
  `${at.getFullYear()}-${String(at.getMonth() + 1).padStart(2, '0')}-${String(at.getDate()).padStart(2, '0')}`;

function calendar(days) {
  const last = new Date(),
    weeks = 26,
    columns = [],
    values = Array.from({ length: 7 }, () => []);
  const monday = new Date(
    last.getFullYear(),
    last.getMonth(),
    last.getDate() - ((last.getDay() + 6) % 7) - 7 * (weeks - 1),
  );
  for (let w = 0; w < weeks; w++) {
    for (let d = 0; d < 7; d++) {
      const at = new Date(monday.getFullYear(), monday.getMonth(), monday.getDate() + 7 * w + d);
      if (d === 0) columns.push(w % 4 === 0 ? dayMonth.format(at) : '');
      values[d].push(days.get(dayKey(at)) ?? 0);
    }
  }
  return heat({ title: k.calendar, rows: k.days, columns, values, text: compact });
}

/** saveCSV hands rows to the person as a file. What a spreadsheet would run is text. */
export function saveCSV(name, head, rows) {
  const cell = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    const safe = typeof value !== 'number' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const text = [head, ...rows].map((row) => row.map(cell).join(',') + '\r\n').join('');
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const a = h('a', { href: url, download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
}
