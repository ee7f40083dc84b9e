// Who may know what, and who knew what: the one table that decides, the room
// that a role would get, every turn on record with what it saw, what not and
// why, and the receipt that shows that its walls held.

import {
  api,
  bytes,
  counted,
  filters,
  h,
  heading,
  number,
  page,
  plain,
  replace,
  setFilters,
  t,
  titled,
  trouble,
  when,
} from './core.js';
import { markdown } from './markdown.js';
import { renderSecrets } from './ways.js';
import { agentName } from './who.js';

const k = t.knowledge;

export function register() {
  page({ path: '/knowledge', title: k.title, nav: { label: k.title, key: 'k', icon: 'knowledge' }, render });
  page({ path: '/knowledge/secrets/:table', title: k.secrets, render: renderSecrets });
  page({ path: '/knowledge/:run/:turn?', title: k.turn, render: renderRun });
}

async function render(el, _, signal) {
  const [policy, records, tables] = await Promise.all([
    api('/api/policy', { signal }),
    api('/api/records', { signal }).catch(() => ({ records: [] })),
    api('/api/tables', { signal }).catch(() => ({ tables: [] })),
  ]);
  replace(
    el,
    heading(k.title),
    h('p', { class: 'lede' }, k.lede),
    matrixOf(policy),
    turnsOf(records.records),
    secretsOf(tables.tables),
    roomOf(policy),
  );
}

// The table.

/** columnsOf are the roles of the table; the six advisors share a column. */
function columnsOf(roles) {
  const advisors = new Set(['bear', 'cat', 'owl', 'puppy', 'rabbit', 'wolf']);
  return roles
    .filter((r) => !advisors.has(r.role) || r.role === 'bear')
    .map((r) => ({ ...r, name: r.role === 'bear' ? k.advisors : r.role }));
}

function matrixOf({ roles, kinds }) {
  const columns = columnsOf(roles).map((c) => ({ ...c, by: new Map(c.decisions.map((d) => [d.kind, d])) }));
  const box = h('div', { 'aria-live': 'polite' });
  const parts = partsOf(kinds, columns).map((part) => ({
    ...part,
    body: h(
      'tbody',
      null,
      part.kinds.map((kind) => rowOf(kind, part.columns, columns, box)),
    ),
  }));
  const find = h('input', {
    type: 'search',
    id: 'kind',
    value: filters().kind ?? '',
    on: {
      input: () => {
        setFilters({ kind: find.value });
        for (const { body } of parts) narrow(body, find.value);
      },
    },
  });
  for (const { body } of parts) narrow(body, find.value);
  return h(
    'section',
    { 'aria-labelledby': 'matrix' },
    h('h2', { id: 'matrix' }, k.matrix),
    h('p', { class: 'muted' }, k.matrixHint),
    h(
      'div',
      { class: 'row' },
      h('label', { for: 'kind' }, k.find),
      find,
      h(
        'ul',
        { class: 'key', 'aria-label': k.legend },
        ['whole', 'part', 'none'].map((name) => h('li', null, cellMark(name), k.marks[name])),
      ),
    ),
    box,
    h('div', { class: 'matrices' }, parts.map(partOf)),
    h('p', { class: 'muted small' }, k.levels(plain([...new Set(columns.map((c) => c.level))].join(', ')))),
  );
}

const TABLE_ROLES = new Set(['gm', 'player', 'journal-keeper', 'spectator']);

/** partsOf cuts the table where nobody of one side knows anything of the other. */
function partsOf(kinds, columns) {
  const allows = (list, { kind }) => list.some((c) => c.by.get(kind)?.allow);
  const quest = columns.filter((c) => !TABLE_ROLES.has(c.role)),
    table = columns.filter((c) => TABLE_ROLES.has(c.role));
  return [
    { name: k.questPart, columns: quest, kinds: kinds.filter((x) => allows(quest, x) && !allows(table, x)) },
    { name: k.tablePart, columns: table, kinds: kinds.filter((x) => allows(table, x) && !allows(quest, x)) },
    { name: k.bothPart, columns, kinds: kinds.filter((x) => allows(table, x) && allows(quest, x)) },
    { name: k.nobodyPart, columns: [], kinds: kinds.filter((x) => !allows(columns, x)) },
  ].filter((part) => part.kinds.length > 0);
}

function partOf({ name, columns, body }) {
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
    h(
      'table',
      { class: 'matrix' },
      h('caption', null, name),
      h(
        'thead',
        { class: columns.length ? null : 'unseen' },
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, k.kind),
          columns.map((c) => h('th', { scope: 'col' }, h('span', null, plain(c.name)))),
        ),
      ),
      body,
    ),
  );
}

function narrow(body, text) {
  const wanted = text.trim().toLowerCase();
  for (const row of body.rows) row.hidden = wanted !== '' && !row.dataset.words.includes(wanted);
}

const formOf = (d) => (!d?.allow ? 'none' : ['whole', 'section'].includes(d.form) || !d.form ? 'whole' : 'part');
const GLYPH = { whole: '●', part: '◐', none: '–' };
const cellMark = (name) => h('span', { class: `cell ${name}`, 'aria-hidden': 'true' }, GLYPH[name]);

function rowOf({ kind, about }, columns, all, box) {
  const name = h(
    'button',
    {
      type: 'button',
      class: 'quiet small',
      title: plain(about),
      on: {
        click: () =>
          replace(
            box,
            reasons(kind, about, all, () => {
              replace(box);
              name.focus();
            }),
          ),
      },
    },
    plain(kind),
  );
  return h(
    'tr',
    { dataset: { words: `${kind} ${about}`.toLowerCase() } },
    h('th', { scope: 'row' }, name),
    columns.map((c) => {
      const d = c.by.get(kind),
        form = formOf(d);
      return h(
        'td',
        { title: plain(`${c.name}: ${d?.reason ?? t.unknown}`) },
        cellMark(form),
        h('span', { class: 'unseen' }, k.says[form]),
      );
    }),
  );
}

function reasons(kind, about, columns, close) {
  return h(
    'div',
    { class: 'sheet' },
    h(
      'div',
      { class: 'spread' },
      h('h3', null, plain(kind)),
      h('button', { type: 'button', class: 'quiet', on: { click: close } }, t.close),
    ),
    h('p', null, plain(about)),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': plain(kind) },
      h(
        'table',
        null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            [k.role, k.may, k.why, k.source].map((text) => h('th', { scope: 'col' }, text)),
          ),
        ),
        h(
          'tbody',
          null,
          columns.map((c) => {
            const d = c.by.get(kind);
            return h(
              'tr',
              null,
              h('th', { scope: 'row' }, plain(c.name)),
              h('td', null, d?.allow ? `${k.yes}${d.form ? ` (${plain(d.form)})` : ''}` : k.no),
              h('td', null, plain(d?.reason ?? t.unknown)),
              h('td', { class: 'muted small' }, plain(d?.source ?? '')),
            );
          }),
        ),
      ),
    ),
  );
}

// A room, as it would be.

function roomOf({ roles }) {
  const who = h(
    'select',
    { id: 'room-role' },
    roles
      .filter((r) => !r.at_table)
      .map((r) => h('option', { value: r.role, selected: r.role === 'dragon' }, r.role)),
  );
  const work = h('input', { type: 'text', id: 'room-work', autocomplete: 'off', 'aria-describedby': 'room-hint' });
  const shown = h('div', { 'aria-live': 'polite' });
  return h(
    'section',
    { 'aria-labelledby': 'room' },
    h('h2', { id: 'room' }, k.room),
    h('p', { class: 'muted', id: 'room-hint' }, k.roomHint),
    h(
      'form',
      {
        class: 'row',
        on: {
          submit: async (event) => {
            event.preventDefault();
            try {
              const asked = new URLSearchParams([
                ['role', who.value],
                ...work.value
                  .split(/\s+/)
                  .filter(Boolean)
                  .map((path) => ['work', path]),
              ]);
              replace(shown, roomView(await api(`/api/room?${asked}`)));
            } catch (err) {
              replace(shown, trouble(err));
            }
          },
        },
      },
      h('label', { for: 'room-role' }, k.role),
      who,
      h('label', { for: 'room-work' }, t.quest.work),
      work,
      h('button', null, k.look),
    ),
    shown,
  );
}

function roomView(v) {
  return h(
    'div',
    { class: 'sheet' },
    h(
      'p',
      null,
      k.roomOf(plain(v.role)),
      ' ',
      h('span', { class: 'badge accent' }, plain(k.walls(v.level, v.now))),
      (v.stamps ?? []).map((s) => [' ', h('span', { class: 'badge warn' }, plain(s))]),
    ),
    sides(k.wouldBe, v.given, v.denied, v.held_back, v.held_back_count),
  );
}

/** sides are what is given, and what is kept out with the reason, in words of what was or would be. */
function sides(words, given, denied, heldBack = [], heldCount = heldBack.length) {
  return h(
    'div',
    { class: 'sides' },
    h(
      'div',
      null,
      h('h3', null, words.saw(given.length)),
      given.length === 0
        ? h('p', { class: 'muted' }, words.sawNothing)
        : listed(
            words.saw(given.length),
            [k.what, k.kind, k.size],
            given.map((g) => [
              [plain(g.path), g.mounted ? h('span', { class: 'muted small' }, ` ${k.mounted(g.files ?? 0)}`) : null],
              plain(g.kind),
              bytes(g.size),
            ]),
          ),
    ),
    h(
      'div',
      null,
      h('h3', null, words.sawNot(denied.length)),
      denied.length === 0
        ? h('p', { class: 'muted' }, words.deniedNothing)
        : listed(
            words.sawNot(denied.length),
            [k.what, words.why],
            denied.map((d) => [
              [plain(d.name), h('span', { class: 'muted small' }, ` ${plain(d.kind)}`)],
              plain(d.reason),
            ]),
          ),
      heldBack.length
        ? h(
            'details',
            null,
            h('summary', null, words.heldBack(heldCount)),
            listed(
              words.heldBack(heldCount),
              [k.what, words.why],
              heldBack.map((x) => [plain(x.path), plain(x.reason ?? x.why)]),
            ),
          )
        : null,
    ),
  );
}

/** listed is a table that scrolls by itself, under a name. */
function listed(name, head, rows) {
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': name },
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          head.map((text) => h('th', { scope: 'col' }, text)),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map((row) =>
          h(
            'tr',
            null,
            row.map((cell, i) => h(i === 0 ? 'th' : 'td', i === 0 ? { scope: 'row' } : null, cell)),
          ),
        ),
      ),
    ),
  );
}

function secretsOf(tables) {
  if (!tables?.length) return null;
  return h(
    'section',
    { 'aria-labelledby': 'secrets' },
    h('h2', { id: 'secrets' }, k.secrets),
    h('p', { class: 'muted' }, k.secretsHint),
    h(
      'ul',
      { class: 'plainlist' },
      tables.map((x) =>
        h('li', null, h('a', { href: `/knowledge/secrets/${encodeURIComponent(x.campaign)}` }, plain(x.campaign))),
      ),
    ),
  );
}

// Turns on record.

function turnsOf(records) {
  const audited = h('div', { 'aria-live': 'polite' });
  const newest = records.toSorted((a, b) => ((a.created ?? '') < (b.created ?? '') ? 1 : -1));
  return h(
    'section',
    { 'aria-labelledby': 'turns' },
    h('h2', { id: 'turns' }, k.turns),
    h('p', { class: 'muted' }, k.turnsHint),
    newest.length === 0
      ? h('p', { class: 'muted' }, k.noTurns)
      : [
          h(
            'div',
            { class: 'row' },
            h(
              'button',
              {
                type: 'button',
                on: {
                  click: async (event) => {
                    const button = event.currentTarget;
                    button.disabled = true;
                    try {
                      replace(audited, auditOf(await api('/api/audit')));
                    } catch (err) {
                      replace(audited, trouble(err));
                    }
                    button.disabled = false;
                  },
                },
              },
              k.auditAll,
            ),
          ),
          audited,
          recordList(newest.slice(0, 12)),
          newest.length > 12
            ? h('details', null, h('summary', null, k.older(newest.length - 12)), recordList(newest.slice(12, 1000)))
            : null,
        ],
  );
}

const recordList = (list) =>
  h(
    'ul',
    { class: 'plainlist' },
    list.map((r) =>
      h(
        'li',
        { class: 'spread' },
        h('a', { href: `/knowledge/${encodeURIComponent(r.run)}` }, plain(r.prompt_name || r.run)),
        h(
          'span',
          { class: 'muted small row' },
          r.adapter ? agentName(r.adapter) : null,
          r.fault ? h('span', { class: 'badge bad' }, plain(r.fault)) : null,
          when(r.created),
        ),
      ),
    ),
  );

function auditOf({ reports, clean }) {
  const found = reports.flatMap((r) => r.findings.map((f) => ({ ...f, run: r.run })));
  return h(
    'div',
    { class: 'sheet' },
    h(
      'p',
      null,
      h('span', { class: `badge ${clean ? 'good' : 'bad'}` }, clean ? k.clean : k.notClean),
      ' ',
      k.audited(reports.length),
    ),
    found.length
      ? listed(
          k.audited(reports.length),
          [k.rule, k.what, k.run],
          found.map((f) => [
            plain(f.rule),
            plain(f.what),
            h('a', { href: placeOfTurn(f.run, f.turn) }, plain(f.turn || f.run)),
          ]),
        )
      : null,
    gapsOf(reports.flatMap((r) => r.gaps ?? [])),
    unseenOf(reports[0]?.unseen),
  );
}

const placeOfTurn = (run, turn) => `/knowledge/${encodeURIComponent(run)}${turn ? `/${encodeURIComponent(turn)}` : ''}`;

function gapsOf(gaps) {
  const each = [...new Set(gaps ?? [])];
  return each.length
    ? h(
        'details',
        null,
        h('summary', null, k.gaps(each.length)),
        h(
          'ul',
          null,
          each.map((g) => h('li', null, plain(g))),
        ),
      )
    : null;
}

const unseenOf = (list) =>
  list?.length
    ? h(
        'details',
        null,
        h('summary', null, k.unseen),
        h(
          'ul',
          null,
          list.map((u) => h('li', null, plain(u))),
        ),
      )
    : null;

// One run.

async function renderRun(el, { run, turn }, signal) {
  const {
    reports: [report],
    clean,
  } = await api(`/api/run/${encodeURIComponent(run)}/audit`, { signal });
  const at = turn ?? report.turns.at(-1)?.id;
  titled(`${report.role || report.prompt_name} · ${k.title}`);
  const told = at ? await api(`/api/run/${encodeURIComponent(run)}/turn/${encodeURIComponent(at)}`, { signal }) : null;
  replace(
    el,
    h(
      'p',
      { class: 'row' },
      h('a', { href: '/knowledge' }, `← ${k.title}`),
      h('a', { href: `/run/${encodeURIComponent(run)}` }, k.asRun),
    ),
    h(
      'div',
      { class: 'spread' },
      heading(k.knew(plain(report.role || report.prompt_name))),
      h(
        'span',
        { class: 'row' },
        h('span', { class: `badge ${report.sound ? 'good' : 'bad'}` }, report.sound ? k.sound : k.unsound),
        h('span', { class: `badge ${report.sealed ? 'good' : 'warn'}` }, report.sealed ? k.sealed : k.unsealed),
        h('span', { class: `badge ${clean ? 'good' : 'bad'}` }, clean ? k.clean : k.notClean),
      ),
    ),
    h('p', { class: 'hash' }, `${k.run} ${plain(report.run)} · ${k.head} ${plain(report.head)}`),
    turnMenu(report, at),
    told
      ? turnOf(
          told,
          report.turns.find((x) => x.id === at),
        )
      : h('p', { class: 'muted' }, k.noTurn),
    report.findings.length
      ? [
          h('h2', null, k.findings),
          listed(
            k.findings,
            [k.rule, k.what],
            report.findings.map((f) => [plain(f.rule), plain(f.what)]),
          ),
        ]
      : null,
    gapsOf(report.gaps),
    unseenOf(report.unseen),
  );
}

function turnMenu(report, at) {
  if (report.turns.length < 2) return null;
  return h(
    'nav',
    { class: 'row', 'aria-label': k.turns },
    report.turns.map((x) =>
      h(
        'a',
        { class: 'button', href: placeOfTurn(report.run, x.id), 'aria-current': x.id === at ? 'page' : null },
        k.turnN(plain(x.id)),
      ),
    ),
  );
}

function turnOf(told, judged) {
  return [
    h('h2', null, k.turnN(plain(told.turn))),
    h(
      'p',
      { class: 'row' },
      told.attempts > 1 ? h('span', { class: 'badge warn' }, k.attempts(told.attempts)) : null,
      judged ? h('span', { class: 'muted small' }, k.searched(judged.searched, judged.sought, judged.denied)) : null,
    ),
    sides(k.was, told.given, told.denied, told.left_out),
    h('h3', null, k.told),
    told.parts.length === 0
      ? h('p', { class: 'muted' }, k.toldNothing)
      : told.parts.map((p) =>
          h(
            'details',
            { open: p.origin !== 'engine' },
            h(
              'summary',
              null,
              k.origins[p.origin] ?? plain(p.origin),
              h('span', { class: 'muted small' }, ` ${counted(p.text.length, 'character', 'characters')}`),
            ),
            h('div', { class: 'md sheet' }, markdown(p.text, { heading: 4 })),
          ),
        ),
    h('h3', null, k.said),
    told.reply
      ? h('div', { class: 'md sheet' }, markdown(told.reply.text || '', { heading: 4 }))
      : h('p', { class: 'muted' }, told.failed ? plain(told.failed) : k.saidNothing),
    receiptOf(told.receipt),
  ];
}

function receiptOf(r) {
  if (!r) return [h('h3', null, k.receipt), h('p', { class: 'tell warn' }, k.noReceipt)];
  const e = r.enforced ?? {};
  const facts = [
    [k.level, r.in_process ? k.inProcess : plain(e.level)],
    [k.required, plain(e.required ?? '')],
    [k.mechanism, plain(e.mechanism ?? '')],
    [k.without, plain(e.without ?? '')],
    [k.kernel, plain(e.kernel ?? '')],
    [k.fallback, plain(e.fallback ?? '')],
    [k.adapter, plain([r.adapter && agentName(r.adapter), r.program, r.version].filter(Boolean).join(' '))],
    [k.model, plain(r.model ?? '')],
    [k.credential, plain(r.credential ?? '')],
    [k.input, plain(r.model_input)],
    [k.calls, number(r.model_calls)],
    [k.refused, r.refused_calls ? number(r.refused_calls) : ''],
    [k.forwards, plain((e.forwards ?? []).join(', '))],
    [k.tools, plain((r.tools ?? []).join(', '))],
  ].filter(([, value]) => value !== '');
  return h(
    'section',
    { 'aria-labelledby': 'receipt' },
    h('h3', { id: 'receipt' }, k.receipt),
    h(
      'p',
      null,
      (r.stamps ?? []).map((s) => h('span', { class: 'badge warn' }, plain(s))),
    ),
    h(
      'dl',
      { class: 'keys' },
      facts.map(([name, value]) => [h('dt', { class: 'muted' }, name), h('dd', null, value)]),
    ),
    e.probes?.length
      ? h(
          'details',
          { open: e.probes.length < 15 },
          h('summary', null, k.probes(e.probes.length)),
          listed(
            k.probes(e.probes.length),
            [k.probe, k.outside, k.inside],
            e.probes.map((p) => [plain(p.name), plain(p.control), plain(p.restricted)]),
          ),
        )
      : h('p', { class: 'muted' }, r.in_process ? k.noProbesInProcess : k.noProbes),
    gapsOf(e.gaps),
  );
}
