// The other views of a run: its agents over time and as a tree, its figures, what
// it changed, what was pinned.

import {
  api,
  axisTime,
  clockTime,
  compact,
  costOf,
  go,
  h,
  loading,
  number,
  oneLine,
  plain,
  query,
  replace,
  s,
  span,
  t,
  when,
} from './core.js';
import { levels, lines } from './plot.js';
import { FLAG, isMain, laneName } from './rundata.js';
import { runPath } from './runs.js';

const LEFT = 130; // for names
const WIDEST = 1000; // without them
const BUCKETS = 500;

/** drawLanes shows every agent of a run: as a tree, and as lanes over time. */
export function drawLanes(el, { data, head }) {
  const lanes = head.lanes ?? [];
  replace(
    el,
    h('h2', null, t.run.timeline),
    timeline(data, lanes),
    legend(),
    h('p', { class: 'muted small' }, t.run.timelineHint),
    h('h2', null, t.run.tree),
    lanes.length > 1 ? tree(lanes, (lane) => laneLine(data, lane)) : null,
    head.threads?.length > 1 ? threads(data, head.threads) : null,
    lanes.length > 1 || head.threads?.length > 1 ? null : h('p', { class: 'muted' }, t.run.noSubagents),
  );
}

/** threads are the agents of a session that have runs of their own. */
function threads(data, list) {
  return tree(
    list.map((thread) => ({ ...thread, name: thread.run, called: thread.name })),
    (thread) => threadLine(data, thread),
  );
}

function threadLine(data, thread) {
  const label = oneLine(thread.title, 80) || t.runs.untitled;
  const here = thread.run === data.id;
  return h(
    'span',
    { class: 'lane-line' },
    h('a', { href: runPath(thread.run), 'aria-current': here ? 'page' : null }, label),
    thread.called ? h('span', { class: 'badge' }, oneLine(thread.called, 60)) : null,
    h('span', { class: 'muted num' }, t.runs.entries(thread.entries)),
    lasted(thread),
    Number.isInteger(thread.call)
      ? h('a', { class: 'small', href: runPath(data.id, thread.call) }, t.run.startedBy)
      : null,
  );
}

const lasted = (one) =>
  one.began && one.last_at
    ? h('span', { class: 'muted num' }, span((new Date(one.last_at) - new Date(one.began)) / 1000))
    : null;

const KINDS = [
  ['u', 'lane-u'],
  ['a', 'lane-a'],
  ['t', 'lane-t'],
  ['cr', 'lane-c'],
  ['e', 'lane-e'],
];

function timeline(data, lanes) {
  const end = Math.max(1, data.lasted);
  const rows = lanes.slice(0, 60);
  const high = 26,
    top = 20,
    wide = Math.max(440, Math.min(WIDEST, document.documentElement.clientWidth - LEFT - 40)); // letters keep their size
  const filled = buckets(data, end);
  const text = axisTime(data.began, data.began + end);
  const drawn = rows.flatMap((lane, r) => {
    const number2 = data.laneNumber(lane.name);
    const y = top + r * high;
    return [
      s('rect', { class: 'lane-bed', x: 0, y: y + 2, width: wide, height: high - 6, rx: 3 }),
      ...KINDS.map(([letters, name]) =>
        s('path', { class: name, d: segments(filled, number2, letters, y + 2, high - 6, wide) }),
      ),
      s(
        'rect',
        { class: 'lane-hit', x: 0, y, width: wide, height: high, on: { click: (e) => jump(e, data, end, number2) } },
        s('title', null, `${plain(laneName(lane.name)) || t.run.mainLane}: ${t.runs.entries(lane.entries)}`),
      ),
      s('text', { x: 4 - LEFT, y: y + high / 2 + 3 }, oneLine(laneName(lane.name), 18) || t.run.mainLane),
    ];
  });
  const here = s('rect', { class: 'lane-here', width: 4, height: high - 2, rx: 2 });
  const ticks = (wide < 700 ? [0, 0.5, 1] : [0, 0.25, 0.5, 0.75, 1]).map((f) =>
    s(
      'text',
      { x: f * wide, y: 12, 'text-anchor': f === 0 ? 'start' : f === 1 ? 'end' : 'middle' },
      text(data.began + f * end),
    ),
  );
  const el = h(
    'div',
    {
      class: 'timeline scroll',
      tabindex: '0',
      role: 'slider',
      'aria-label': `${t.run.timeline}: ${t.run.timelineLabel(lanes.length, span(end / 1000))}`,
      'aria-valuemin': '1',
      'aria-valuemax': String(Math.max(1, data.total)),
    },
    s(
      'svg',
      {
        viewBox: `${-LEFT} 0 ${wide + LEFT} ${top + rows.length * high}`,
        style: { 'min-width': `${wide + LEFT}px` },
      },
      drawn,
      ticks,
      here,
    ),
  );
  byKeys(el, data, rows, (n, row) => {
    here.setAttribute('x', (data.at[n] / end) * wide - 2);
    here.setAttribute('y', top + row * high + 1);
  });
  return el;
}

/** byKeys lets the arrows go from entry to entry and from lane to lane, and Enter lead there. */
function byKeys(el, data, rows, point) {
  if (rows.length === 0 || data.total === 0) return;
  let row = 0;
  let at = data.nearest(0, data.laneNumber(rows[0].name));
  const lane = () => data.laneNumber(rows[row].name);
  const along = (from, by) => {
    for (let n = from; n >= 0 && n < data.total; n += by) if (data.lane[n] === lane()) return n;
    return at;
  };
  const across = (by) => {
    row = Math.min(rows.length - 1, Math.max(0, row + by));
    return data.nearest(data.at[at], lane());
  };
  const moves = {
    ArrowRight: () => along(at + 1, 1),
    ArrowLeft: () => along(at - 1, -1),
    ArrowDown: () => across(1),
    ArrowUp: () => across(-1),
    Home: () => along(0, 1),
    End: () => along(data.total - 1, -1),
  };
  const tell = () => {
    point(at, row);
    el.setAttribute('aria-valuenow', String(at + 1));
    el.setAttribute(
      'aria-valuetext',
      t.run.timelinePlace(
        oneLine(laneName(rows[row].name), 60) || t.run.mainLane,
        number(at + 1),
        number(data.total),
        data.at[at] === undefined ? '' : clockTime(data.atTime(at)),
      ),
    );
  };
  el.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Enter') go(runPath(data.id, at));
    else if (Object.hasOwn(moves, event.key)) {
      at = moves[event.key]();
      tell();
      el.querySelector('.lane-here').scrollIntoView({ block: 'nearest', inline: 'nearest' });
    } else return;
    event.preventDefault();
  });
  tell();
}

/** buckets are the pieces of time in which a lane said something, by kind. */
function buckets(data, end) {
  const filled = new Map();
  for (let n = 0; n < data.total; n++) {
    const name = `${data.lane[n]} ${data.flag[n] & FLAG.error ? 'e' : String.fromCharCode(data.type[n])}`;
    if (!filled.has(name)) filled.set(name, new Uint8Array(BUCKETS));
    filled.get(name)[Math.min(BUCKETS - 1, Math.floor((data.at[n] / end) * BUCKETS))] = 1;
  }
  return filled;
}

/** INSETS are how far from the upper and the lower edge a kind stands: not its colour alone tells it. */
const INSETS = { u: [0, 0], a: [0.4, 0], t: [0.3, 0.4], cr: [0.4, 0.4], e: [0, 0.4] };

const stroke = (letters, x, y, wide, high) => {
  const [upper, lower] = INSETS[letters];
  return `M${x.toFixed(1)} ${y + high * upper}h${wide}v${high * (1 - upper - lower)}h${-wide}z`;
};

function segments(filled, lane, letters, y, high, across) {
  const wide = across / BUCKETS;
  let path = '';
  for (const letter of letters) {
    const marks = filled.get(`${lane} ${letter}`);
    if (marks)
      marks.forEach((one, b) => {
        if (one) path += stroke(letters, b * wide, y, wide, high);
      });
  }
  return path;
}

function legend() {
  const names = { u: 'user_message', a: 'assistant_message', t: 'thinking', cr: 'tool_use', e: 'error' };
  return h(
    'ul',
    { class: 'lane-legend' },
    KINDS.map(([letters, name]) =>
      h(
        'li',
        null,
        s(
          'svg',
          { viewBox: '0 0 6 20', width: 6, height: 20, 'aria-hidden': 'true' },
          s('path', { class: name, d: stroke(letters, 0, 0, 6, 20) }),
        ),
        t.run.typesMany[names[letters]],
      ),
    ),
  );
}

function jump(event, data, end, lane) {
  const box = event.currentTarget.getBoundingClientRect();
  const at = ((event.clientX - box.left) / box.width) * end;
  go(runPath(data.id, data.nearest(at, lane)));
}

function tree(lanes, line) {
  const names = new Set(lanes.map((lane) => lane.name));
  const children = (parent) =>
    lanes.filter((lane) => (names.has(lane.parent) && lane.parent !== lane.name ? lane.parent : null) === parent);
  const seen = new Set();
  const branch = (parent) => {
    const list = children(parent).filter((lane) => !seen.has(lane.name));
    list.forEach((lane) => seen.add(lane.name));
    return list.length
      ? h(
          'ul',
          { class: 'tree' },
          list.map((lane) => h('li', null, line(lane), branch(lane.name))),
        )
      : null;
  };
  return branch(null) ?? h('p', { class: 'muted' }, t.nothing);
}

function laneLine(data, lane) {
  const label = oneLine(laneName(lane.name), 80) || t.run.mainLane;
  return h(
    'span',
    { class: 'lane-line' },
    h('a', { href: `${runPath(data.id)}${query({ lane: lane.name })}` }, isMain(lane.name) ? t.run.mainLane : label),
    lane.role ? h('span', { class: 'badge' }, oneLine(lane.role, 60)) : null,
    h('span', { class: 'muted num' }, t.runs.entries(lane.entries)),
    lasted(lane),
    Number.isInteger(lane.call) ? h('a', { class: 'small', href: runPath(data.id, lane.call) }, t.run.startedBy) : null,
  );
}

/** drawFigures shows what a run consumed over time, its tools, and where the time went. */
export function drawFigures(el, { data, head, signal }) {
  const { x, tokens } = sums(data);
  const paid = h('div', null);
  if (head.cost_usd) drawCost(paid, data, head.cost_at_least, signal).catch(() => {}); // the sum stands above in any case
  const time = (head.time ?? []).filter((share) => share.seconds > 0);
  replace(
    el,
    h(
      'div',
      { class: 'cards' },
      card(t.run.cards.tokens, compact(head.tokens)),
      card(t.run.cards.cost, costOf(head)),
      card(t.run.cards.entries, number(data.total)),
      card(
        t.run.cards.length,
        head.began && head.last_at ? span((new Date(head.last_at) - new Date(head.began)) / 1000) : t.unknown,
      ),
    ),
    lines({
      title: t.run.tokensOver,
      x,
      series: [{ name: t.run.cards.tokens, values: tokens }],
      xText: axisTime(x[0], x[x.length - 1]),
      yText: compact,
      area: true,
      xName: t.run.time,
    }),
    paid,
    levels({
      title: t.run.timeBy,
      items: time.map((share) => ({ label: t.run.categories[share.category] ?? share.category, value: share.seconds })),
      text: span,
    }),
    h('h2', null, t.run.tools),
    toolTable(data, head.tools ?? []),
    head.tools?.length
      ? h('p', null, h('a', { href: `${runPath(data.id)}?hide=aekstux&layout=outline` }, t.run.allCalls))
      : null,
  );
}

/** drawCost draws what a run has cost over time, by the archive's own view of it. */
async function drawCost(el, data, atLeast, signal) {
  const days = data.lasted / 86400e3;
  const piece = days > 3 ? 13 : 16; // hours, or minutes
  const text = `SELECT substr(timestamp, 1, ${piece}) AS at, sum(cost_usd) AS usd FROM usage
    WHERE bundle = '${data.id.replaceAll("'", "''")}' AND timestamp <> '' GROUP BY 1 ORDER BY 1`;
  const { rows, truncated } = await api('/api/sql', { body: { query: text }, signal });
  if (signal.aborted || truncated || rows.length < 2) return; // one moment is no course
  const x = rows.map(([at]) => Date.parse(`${at}${piece === 13 ? ':00' : ''}:00Z`));
  let sum = 0;
  const values = rows.map(([, usd]) => (sum += usd ?? 0));
  const yText = (v) => `$${v.toFixed(sum < 1 ? 3 : sum < 100 ? 2 : 0)}`;
  const xText = axisTime(x[0], x[x.length - 1]);
  const series = [{ name: t.run.cards.cost, values }];
  replace(el, lines({ title: t.run.costOver(atLeast), x, series, xText, yText, area: true, xName: t.run.time }));
}

function sums(data) {
  const x = [];
  const tokens = [];
  const each = Math.max(1, Math.floor(data.total / 400));
  let spent = 0;
  for (let n = 0; n < data.total; n++) {
    spent += data.tokens[n] ?? 0;
    if (n % each && n !== data.total - 1) continue;
    x.push(data.atTime(n));
    tokens.push(spent);
  }
  return { x, tokens };
}

const card = (name, value) =>
  h('div', { class: 'card' }, h('div', { class: 'muted small' }, name), h('div', { class: 'figure' }, value));

function toolTable(data, tools) {
  if (tools.length === 0) return h('p', { class: 'muted' }, t.run.noTools);
  return h(
    'div',
    { class: 'scroll' },
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('th', { scope: 'col' }, t.run.tool),
          ['calls', 'failed', 'seconds', 'each'].map((name) =>
            h('th', { scope: 'col', class: 'num' }, t.run.toolColumns[name]),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        tools
          .slice(0, 300)
          .map((tool) =>
            h(
              'tr',
              null,
              h(
                'th',
                { scope: 'row' },
                h('a', { href: `${runPath(data.id)}${query({ tool: tool.name })}` }, oneLine(tool.name, 80)),
              ),
              h('td', { class: 'num' }, number(tool.calls)),
              h('td', { class: `num${tool.failed ? ' wrong' : ''}` }, number(tool.failed)),
              h('td', { class: 'num' }, span(tool.seconds)),
              h('td', { class: 'num' }, span(tool.calls ? tool.seconds / tool.calls : 0)),
            ),
          ),
      ),
    ),
  );
}

/** drawEdits shows which files were changed lately. */
export function drawEdits(el, { data, head }) {
  const list = (head.edits ?? []).slice().sort((a, b) => b.entry - a.entry);
  if (list.length === 0) {
    replace(el, h('p', { class: 'muted' }, t.run.noEdits));
    return;
  }
  const files = new Map();
  for (const edit of list) {
    if (!files.has(edit.path)) files.set(edit.path, []);
    files.get(edit.path).push(edit);
  }
  replace(
    el,
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        null,
        h('caption', null, t.run.editsCaption(list.length, head.more_edits ?? 0)),
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            [t.run.file, t.run.editTimes].map((name) => h('th', { scope: 'col' }, name)),
            h('th', { scope: 'col', class: 'num' }, t.run.linesChanged),
            h('th', { scope: 'col' }, t.run.lastEdit),
          ),
        ),
        h(
          'tbody',
          null,
          [...files].map(([path, all]) => fileRow(data, path, all)),
        ),
      ),
    ),
  );
}

function fileRow(data, path, all) {
  const sum = (name) => all.reduce((n, edit) => n + (edit[name] ?? 0), 0);
  return h(
    'tr',
    null,
    h('th', { scope: 'row', class: 'mono' }, oneLine(path, 300) || t.unknown),
    h(
      'td',
      null,
      all
        .slice(0, 12)
        .map((edit, i) => [
          i ? ' ' : '',
          h('a', { href: runPath(data.id, edit.entry), class: 'num edit-at' }, `#${edit.entry}`),
        ]),
      all.length > 12 ? ' …' : '',
    ),
    h(
      'td',
      { class: 'num' },
      h('span', { class: 'plus' }, `+${sum('added')}`),
      ' ',
      h('span', { class: 'minus' }, `−${sum('removed')}`),
    ),
    h('td', null, all[0].at ? when(all[0].at) : t.unknown),
  );
}

/** drawPins shows the entries that the person pinned, with their words. */
export function drawPins(el, { data, pins, signal }) {
  if (pins.length === 0) {
    replace(el, h('p', { class: 'muted' }, t.run.noPins));
    return;
  }
  const list = h('ol', { class: 'pins' }, loading());
  replace(el, list);
  Promise.all(
    pins
      .slice()
      .sort((a, b) => a.entry - b.entry)
      .map(async (pin) => {
        const entry = await api(`${data.base}/entry/${pin.entry}`, { signal }).catch(() => null);
        return h(
          'li',
          null,
          h('a', { href: runPath(data.id, pin.entry) }, `#${pin.entry}`),
          ' ',
          h('span', { class: 'muted' }, t.run.types[entry?.type] ?? ''),
          pin.note ? h('p', { class: 'foreign' }, plain(pin.note)) : null,
          h('p', { class: 'foreign' }, oneLine(entry?.text, 400) || t.run.noWords),
        );
      }),
  ).then((items) => signal.aborted || replace(list, items));
}
