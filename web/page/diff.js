// What changed in a file, as lines that went and lines that came. It reads what
// agents hand to their tools: a replacement (Edit), several (MultiEdit), a whole
// file (Write), a patch (apply_patch), a unified diff.

import { h } from './dom.js';
import { oneLine, plain } from './plain.js';
import { t } from './texts.js';

const MOST_LINES = 1500; // a longer side is shown as gone and come, without looking for what stayed
const MOST_SHOWN = 2000;
const FOLDED_LINES = 18; // more than these scroll

/**
 * compare tells which lines stayed, went and came.
 * @param {string[]} before
 * @param {string[]} after
 * @returns {{sign: ' '|'-'|'+', text: string}[]}
 */
export function compare(before, after) {
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head++;
  let tail = 0;
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++;
  const middle = longest(before.slice(head, before.length - tail), after.slice(head, after.length - tail));
  const same = (lines) => lines.map((text) => ({ sign: ' ', text }));
  return [...same(before.slice(0, head)), ...middle, ...same(before.slice(before.length - tail))];
}

function longest(before, after) {
  const gone = before.map((text) => ({ sign: '-', text })),
    come = after.map((text) => ({ sign: '+', text }));
  if (!before.length || !after.length || before.length * after.length > MOST_LINES * MOST_LINES)
    return [...gone, ...come];
  const wide = after.length + 1;
  const length = new Uint16Array((before.length + 1) * wide);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      length[i * wide + j] =
        before[i] === after[j]
          ? length[(i + 1) * wide + j + 1] + 1
          : Math.max(length[(i + 1) * wide + j], length[i * wide + j + 1]);
    }
  }
  const lines = [];
  let i = 0,
    j = 0;
  while (i < before.length && j < after.length) {
    if (before[i] === after[j]) {
      lines.push({ sign: ' ', text: before[i++] });
      j++;
    } else if (length[(i + 1) * wide + j] >= length[i * wide + j + 1]) {
      lines.push(gone[i++]);
    } else {
      lines.push(come[j++]);
    }
  }
  return [...lines, ...gone.slice(i), ...come.slice(j)];
}

const linesOf = (text) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/**
 * edits finds what a call of a tool changes: a path and its lines each.
 * Nothing that it does not know is a change.
 * @param {string} tool
 * @param {any} input
 * @returns {{path: string, lines: {sign: string, text: string}[]}[]}
 */
export function edits(tool, input) {
  const given = typeof input === 'string' ? fromJSON(input) : input;
  const patch = patchOf(given, typeof input === 'string' ? input : '');
  if (patch) return readPatch(patch);
  if (!given || typeof given !== 'object') return [];
  const path = given.file_path ?? given.filePath ?? given.path ?? given.notebook_path ?? given.absolute_path ?? '';
  if (typeof path !== 'string') return [];
  const pairs = Array.isArray(given.edits) ? given.edits : [given];
  const replaced = pairs.flatMap(pairOf);
  if (replaced.length)
    return [
      {
        path,
        lines: replaced.flatMap(([before, after], i) => [
          ...(i ? [{ sign: '@', text: '' }] : []),
          ...compare(linesOf(before), linesOf(after)),
        ]),
      },
    ];
  const whole = given.content ?? given.file_text ?? given.new_source;
  if (/write|create|edit/i.test(tool) && path && typeof whole === 'string')
    return [{ path, lines: linesOf(whole).map((text) => ({ sign: '+', text })) }];
  return changesOf(given);
}

function pairOf(one) {
  const before = one?.old_string ?? one?.oldString ?? one?.old_str ?? one?.oldText ?? one?.old_text;
  const after = one?.new_string ?? one?.newString ?? one?.new_str ?? one?.newText ?? one?.new_text;
  return typeof before === 'string' && typeof after === 'string' ? [[before, after]] : [];
}

/** changesOf reads Codex' changes: a path each, with a unified diff or a content. */
function changesOf(given) {
  if (!given.changes || typeof given.changes !== 'object') return [];
  const all = Array.isArray(given.changes)
    ? given.changes.map((one) => [one?.path, one])
    : Object.entries(given.changes);
  return all.flatMap(([path, one]) => {
    const change = one?.add ?? one?.update ?? one?.delete ?? one;
    const text = change?.unified_diff ?? change?.diff;
    if (typeof text === 'string') return [{ path: String(path), lines: unified(text) }];
    return typeof change?.content === 'string'
      ? [
          {
            path: String(path),
            lines: linesOf(change.content).map((line) => ({ sign: one.delete ? '-' : '+', text: line })),
          },
        ]
      : [];
  });
}

function fromJSON(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function patchOf(given, text) {
  const found = [
    given?.input,
    given?.patch,
    given?.diff,
    ...(Array.isArray(given?.command) ? given.command : [given?.command]),
    given?.cmd,
    text,
  ].find((one) => typeof one === 'string' && one.includes('*** Begin Patch'));
  return found ?? null;
}

/** readPatch reads the form of apply_patch. */
export function readPatch(text) {
  const files = [];
  let at = null;
  for (const line of text.slice(text.indexOf('*** Begin Patch')).split('\n')) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.*)$/.exec(line);
    if (head) files.push((at = { path: head[2], lines: [] }));
    else if (/^\*\*\* End Patch/.test(line)) break;
    else if (at && line.startsWith('*** Move to: ')) at.path += ` → ${line.slice(13)}`;
    else if (at && !line.startsWith('***')) at.lines.push(signed(line));
  }
  return files;
}

function unified(text) {
  return text
    .split('\n')
    .filter((line) => !/^(---|\+\+\+) /.test(line))
    .map(signed)
    .filter((line, i, all) => i < all.length - 1 || line.text !== '' || line.sign !== ' ');
}

function signed(line) {
  if (line.startsWith('@@')) return { sign: '@', text: line };
  return /^[-+ ]/.test(line) ? { sign: line[0], text: line.slice(1) } : { sign: ' ', text: line };
}

/** counts says how many lines came and went. */
export function counts(lines) {
  return { added: lines.filter((l) => l.sign === '+').length, removed: lines.filter((l) => l.sign === '-').length };
}

/**
 * diff shows one file's change.
 * @param {{path: string, lines: {sign: string, text: string}[]}} file
 */
export function diff({ path, lines }) {
  const { added, removed } = counts(lines);
  const kept = lines.slice(0, MOST_SHOWN);
  const names = { '-': t.diff.removed, '+': t.diff.added };
  const row = ({ sign, text }) =>
    h(
      'div',
      { class: `dline ${CLASSES[sign] ?? ''}` },
      h('span', { class: 'sign', 'aria-hidden': 'true' }, sign === '@' ? '⋯' : sign),
      names[sign] ? h('span', { class: 'unseen' }, `${names[sign]}: `) : null,
      h('span', { class: 'dtext' }, plain(text)),
    );
  return h(
    'div',
    { class: 'diff' },
    h(
      'div',
      { class: 'diff-head' },
      h('span', { class: 'mono' }, oneLine(path, 400) || t.unknown),
      h(
        'span',
        { class: 'num' },
        h('span', { class: 'plus' }, `+${added}`),
        ' ',
        h('span', { class: 'minus' }, `−${removed}`),
      ),
    ),
    h(
      'div',
      {
        class: 'diff-body',
        role: 'group',
        tabindex: kept.length > FOLDED_LINES ? '0' : null,
        'aria-label': t.diff.label(oneLine(path, 200), added, removed),
      },
      kept.map(row),
      lines.length > kept.length ? h('div', { class: 'dline muted' }, t.diff.more(lines.length - kept.length)) : null,
    ),
  );
}

const CLASSES = { '-': 'minus', '+': 'plus', '@': 'gap' };
