// One entry of a run: words as words, thinking and tools folded, changes of files
// as lines that went and came, the raw bytes when somebody asks for them.

import {
  ask,
  clockTime,
  compact,
  download,
  fullTime,
  h,
  mark,
  money,
  notice,
  number,
  oneLine,
  plain,
  replace,
  t,
} from './core.js';
import { diff, edits } from './diff.js';
import { markdown } from './markdown.js';
import { pinButton } from './marks.js';
import { CODE, FLAG, isMain, laneName } from './rundata.js';
import { face, roleOf } from './who.js';

const CUT = 5000; // characters before "show all"
const MOST = 400000; // characters that the page shows at all

/**
 * @typedef {object} Context
 * @property {import('./rundata.js').RunData} data
 * @property {Map<string, boolean>} folds what was folded or unfolded by hand
 * @property {Set<number>} pins
 * @property {Map<number, object>} whole entries that were read whole
 * @property {number|null} seen up to which entry the run had been read
 * @property {(n: number) => void} redraw
 * @property {(n: number) => string} href
 * @property {boolean} outline every entry is one line, until somebody unfolds it
 * @property {(n: number) => number} estimate a height for an entry that has not been read
 */

/** drawEntry draws entry n; before its text has come, only what the columns tell. */
export function drawEntry(n, ctx) {
  const entry = ctx.whole.get(n) ?? ctx.data.entry(n);
  const kind = entry?.type ?? 'unknown';
  const el = h(
    'article',
    { class: `entry ${entry ? kind : 'unread'}`, dataset: { n } },
    ctx.seen !== null && n === ctx.seen + 1 ? newMark() : null,
  );
  if (!entry) {
    el.style.height = `${ctx.estimate(n)}px`; // so that little moves when it comes
    el.append(h('div', { class: 'muted small' }, t.loading));
    return el;
  }
  const body = BODIES[kind] ?? unknownBody;
  el.setAttribute('aria-label', t.run.entryLabel(n, nameOf(entry), entry.failed));
  if (!isMain(entry.lane)) {
    el.classList.add('sub', `k${(ctx.data.laneNumber(entry.lane) % 8) + 1}`);
  }
  const slim = kind === 'token_usage' || kind === 'system_event' || (ctx.outline && !ctx.folds.get(`whole ${n}`));
  el.append(
    h(
      'header',
      { class: 'entry-head' },
      nameNode(entry),
      slim ? slimLine(entry) : null,
      h('span', { class: 'entry-tools' }, tools(n, entry, ctx, el)),
    ),
  );
  if (!slim)
    el.append(
      h(
        'div',
        { class: 'entry-body' },
        entry.fault ? h('p', { class: 'wrong' }, plain(entry.fault)) : body(entry, ctx),
      ),
    );
  return el;
}

function newMark() {
  return h(
    'div',
    { class: 'new-mark', role: 'separator', 'aria-label': t.run.newSince },
    h('span', null, t.run.newSince),
  );
}

function nameOf(entry) {
  if (entry.type === 'tool_use' || entry.type === 'tool_result')
    return `${t.run.types[entry.type]} ${oneLine(entry.tool ?? '', 60)}`;
  return t.run.types[entry.type] ?? oneLine(entry.type, 40);
}

function nameNode(entry) {
  return h(
    'span',
    { class: 'entry-name' },
    entry.type === 'assistant_message' ? face(entry.role) : null,
    h(
      'strong',
      null,
      (entry.type === 'assistant_message' && roleOf(entry.role)) ||
        (t.run.types[entry.type] ?? oneLine(entry.type, 40)),
    ),
    isMain(entry.lane) ? null : h('span', { class: 'lane-name' }, mark('lane', 12), oneLine(laneName(entry.lane), 50)),
    entry.failed ? h('span', { class: 'badge bad' }, t.run.failed) : null,
  );
}

function tools(n, entry, ctx, el) {
  const raw = h(
    'button',
    {
      type: 'button',
      class: 'icon small',
      'aria-label': t.run.raw(n),
      title: t.run.raw(n),
      'aria-expanded': 'false',
      on: { click: () => toggleRaw(n, ctx, el, raw) },
    },
    mark('raw', 14),
  );
  return [
    entry.model ? h('span', { class: 'muted small entry-model' }, oneLine(entry.model, 40)) : null,
    pinButton(ctx.data.id, n, ctx.pins.has(n), (on) => {
      if (on) ctx.pins.add(n);
      else ctx.pins.delete(n);
    }),
    raw,
    h(
      'a',
      { class: 'entry-at muted', href: ctx.href(n), title: entry.at ? fullTime(entry.at) : t.unknown },
      entry.at ? clockTime(entry.at) : `#${n}`,
      h('span', { class: 'unseen' }, t.run.linkTo(n)),
    ),
  ];
}

async function toggleRaw(n, ctx, el, button) {
  const shown = el.querySelector('.raw');
  button.setAttribute('aria-expanded', String(!shown));
  if (shown) {
    shown.remove();
    return;
  }
  try {
    const text = await (await ask(`${ctx.data.base}/entry/${n}/raw`, { signal: ctx.data.signal })).text();
    const cut = text.length > MOST;
    el.append(
      h(
        'div',
        { class: 'raw' },
        h(
          'pre',
          { class: 'code foreign', tabindex: '0', 'aria-label': t.run.raw(n) },
          plain(cut ? text.slice(0, MOST) : text),
        ),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            on: {
              click: () =>
                download(`${ctx.data.base}/entry/${n}/raw`, `entry-${n}.txt`).catch((err) => notice(err.message)),
            },
          },
          mark('download', 14),
          t.run.rawFile,
        ),
      ),
    );
  } catch (err) {
    notice(err.message);
  }
}

const BODIES = {
  user_message: wordsBody,
  assistant_message: wordsBody,
  thinking: thinkingBody,
  tool_use: callBody,
  tool_result: resultBody,
  error: errorBody,
};

function wordsBody(entry, ctx) {
  return long(entry, ctx, (text) => markdown(text));
}

/** long shows a text cut, with a way to all of it. */
function long(entry, ctx, show) {
  const text = entry.text ?? '';
  const key = `all ${entry.n}`;
  const whole = ctx.folds.get(key);
  const shown = whole ? text.slice(0, MOST) : text.slice(0, CUT * 1.4 > text.length ? text.length : CUT);
  const missing = shown.length < text.length || entry.more;
  return [
    show(shown),
    missing && !whole
      ? h(
          'button',
          { type: 'button', class: 'quiet', on: { click: () => unfoldAll(entry, ctx, key) } },
          t.showAll(entry.size ?? text.length),
        )
      : null,
    missing && whole ? h('p', { class: 'muted small' }, t.run.tooLong(number(shown.length))) : null,
  ];
}

async function unfoldAll(entry, ctx, key) {
  try {
    if (entry.more) ctx.whole.set(entry.n, await ctx.data.whole(entry.n));
    ctx.folds.set(key, true);
    ctx.redraw(entry.n);
  } catch (err) {
    notice(err.message);
  }
}

/** fold is a part that is folded until somebody wants it; what they wanted is kept. */
function fold(entry, ctx, { open = false, name, line, content }) {
  const key = `fold ${entry.n}`;
  const unfolded = ctx.folds.get(key) ?? ctx.folds.get(`every ${entry.type}`) ?? open;
  const inside = h('div', { class: 'fold-body' }, unfolded ? content() : null);
  const details = h(
    'details',
    {
      class: 'fold',
      open: unfolded,
      on: {
        toggle: () => {
          if (details.open === (ctx.folds.get(key) ?? unfolded)) return;
          ctx.folds.set(key, details.open);
          if (details.open && !inside.firstChild) replace(inside, content());
        },
      },
    },
    h('summary', null, name ? h('span', { class: 'fold-name' }, name) : null, h('span', { class: 'fold-line' }, line)),
    inside,
  );
  return details;
}

function thinkingBody(entry, ctx) {
  const text = entry.text ?? '';
  if (text.trim() === '') return h('p', { class: 'muted small' }, t.run.hiddenThinking);
  return fold(entry, ctx, { line: oneLine(text, 160), content: () => wordsBody(entry, ctx) });
}

function callBody(entry, ctx) {
  const files = edits(entry.tool ?? '', entry.input ?? entry.text);
  const name = oneLine(entry.tool ?? '', 80) || t.unknown;
  if (files.length)
    return fold(entry, ctx, {
      open: true,
      name,
      line: files.map((file) => oneLine(file.path, 120)).join(', '),
      content: () => files.slice(0, 50).map(diff),
    });
  return fold(entry, ctx, { name, line: inputLine(entry), content: () => inputNode(entry, ctx) });
}

const TELLING = [
  'command',
  'cmd',
  'file_path',
  'path',
  'pattern',
  'query',
  'url',
  'description',
  'prompt',
  'skill',
  'title',
  'question',
];

function inputLine(entry) {
  const input = entry.input;
  if (!input || typeof input !== 'object') return oneLine(typeof input === 'string' ? input : entry.text, 160);
  const found = TELLING.map((name) => input[name]).find((value) => typeof value === 'string' || Array.isArray(value));
  return oneLine(Array.isArray(found) ? found.join(' ') : (found ?? JSON.stringify(input)), 160);
}

function inputNode(entry, ctx) {
  const { input } = entry;
  const more =
    entry.more && !ctx.whole.has(entry.n)
      ? h(
          'button',
          { type: 'button', class: 'quiet', on: { click: () => unfoldAll(entry, ctx, `all ${entry.n}`) } },
          t.run.allInput,
        )
      : null;
  if (!input || typeof input !== 'object' || Array.isArray(input)) {
    return [
      h(
        'pre',
        { class: 'code foreign' },
        plain(cutText(typeof input === 'string' ? input : input ? JSON.stringify(input, null, 2) : entry.text)),
      ),
      more,
    ];
  }
  return [
    h(
      'dl',
      { class: 'input' },
      Object.entries(input)
        .slice(0, 60)
        .map(([name, value]) => [
          h('dt', null, oneLine(name, 80)),
          h(
            'dd',
            { class: 'foreign mono' },
            plain(cutText(typeof value === 'string' ? value : JSON.stringify(value, null, 2))),
          ),
        ]),
    ),
    more,
  ];
}

const cutText = (text) => ((text ?? '').length > MOST ? `${text.slice(0, MOST)}…` : (text ?? ''));

function resultBody(entry, ctx) {
  const text = entry.text ?? '';
  if (text.trim() === '') return h('p', { class: 'muted small' }, t.run.noWords);
  const show = (part) => h('pre', { class: 'code foreign' }, plain(part));
  return fold(entry, ctx, {
    open: Boolean(entry.failed),
    line: oneLine(text, 160),
    content: () => long(entry, ctx, show),
  });
}

function errorBody(entry, ctx) {
  return h(
    'div',
    { class: 'trouble' },
    long(entry, ctx, (text) => h('div', { class: 'foreign' }, plain(text) || t.run.noWords)),
  );
}

function unknownBody(entry, ctx) {
  return fold(entry, ctx, {
    line: oneLine(entry.text, 160) || t.run.noWords,
    content: () => long(entry, ctx, (text) => h('pre', { class: 'code foreign' }, plain(text))),
  });
}

/** systemWords says what a system event is; of one that is only JSON, its names. */
function systemWords({ text = '', subtype = '' }) {
  if (!text.startsWith('{')) return text || subtype;
  try {
    const line = JSON.parse(text);
    const names = [line.subtype, line.attachment?.type, line.operation, line.type].filter(
      (name) => typeof name === 'string',
    );
    return names.length ? names.join(' · ') : text;
  } catch {
    return text;
  }
}

function slimLine(entry) {
  if (entry.type === 'system_event') return h('span', { class: 'slim foreign' }, oneLine(systemWords(entry), 200));
  if (entry.type === 'tool_use')
    return h(
      'span',
      { class: 'slim foreign' },
      h('strong', null, oneLine(entry.tool ?? '', 60)),
      ' ',
      inputLine(entry),
    );
  if (entry.type !== 'token_usage')
    return h('span', { class: 'slim foreign' }, oneLine(entry.text, 200) || t.run.noWords);
  const k = entry.tokens ?? {};
  const parts = [
    [k.input, t.run.usage.input],
    [k.output, t.run.usage.output],
    [k.cache_read, t.run.usage.cacheRead],
    [k.cache_write, t.run.usage.cacheWrite],
  ]
    .filter(([n]) => n > 0)
    .map(([n, name]) => `${compact(n)} ${name}`);
  return h(
    'span',
    { class: 'slim num' },
    [...parts, entry.cost === undefined ? '' : money(entry.cost)].filter(Boolean).join(' · ') || t.unknown,
  );
}

const WORDS = new Uint8Array(128);
for (const letter of 'uae') WORDS[CODE(letter)] = 1;
const CALL = CODE('c');

/** estimate guesses an entry's height from the columns. */
export function estimate(type, size, flag, width) {
  if (!WORDS[type]) return type === CALL && flag & FLAG.edit ? 240 : 46;
  const lines = Math.ceil(Math.min(size, CUT) / Math.max(20, width / 7.6));
  return 40 + Math.max(1, lines) * 24;
}
