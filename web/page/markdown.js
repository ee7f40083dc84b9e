// Markdown of agents as nodes: headings, lists, code, emphasis, tables, quotes,
// links. HTML in it is text. It never throws, takes time in proportion to the
// text, and nests at most a few levels deep. So no form here has two parts beside
// each other that take the same characters without a bound, and what was looked
// for in vain is not looked for again. A text that is too long stays as it stands.

import { h, link, scroller } from './dom.js';
import { plain } from './plain.js';
import { t } from './texts.js';

const MOST = 60000; // characters; above, a text is shown as it stands
const MOST_PLAIN = 400000; // characters that are shown at all
const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const FENCE_END = /^ {0,3}(`+|~+)\s*$/;
const HEADING = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:[ \t]+|$)(.*)$/s;
const QUOTE = /^ {0,3}> ?(.*)$/s;
const DIVIDER = /^:?-+:?$/; // of one column

/**
 * blocks reads Markdown into a tree of plain objects, which tests can look at.
 * @param {string} text
 * @param {number} [deep]
 */
export function blocks(text, deep = 0) {
  const lines = text.split('\n');
  const found = [];
  for (let at = 0; at < lines.length;) at = block(lines, at, found, deep);
  return found;
}

function block(lines, at, found, deep) {
  const line = lines[at];
  if (line.trim() === '') return at + 1;
  const fence = fenceOf(line);
  if (fence) return fenced(lines, at, fence, found);
  const heading = HEADING.exec(line);
  if (heading) {
    found.push({ kind: 'heading', level: heading[1].length, text: title(line.slice(heading[0].length).trim()) });
    return at + 1;
  }
  if (RULE.test(line)) {
    found.push({ kind: 'rule' });
    return at + 1;
  }
  if (deep < DEEPEST && QUOTE.test(line)) return quoted(lines, at, found, deep);
  if (deep < DEEPEST && ITEM.test(line)) return listed(lines, at, found, deep);
  if (line.includes('|') && divides(lines[at + 1] ?? '')) return tabled(lines, at, found);
  return paragraph(lines, at, found, deep);
}

/** fenceOf is the fence that a line opens, or null. */
function fenceOf(line) {
  const found = FENCE.exec(line);
  const info = found ? line.slice(found[0].length) : '`';
  return info.includes('`') ? null : { sign: found[1], language: info.trim().split(/\s/, 1)[0] };
}

function fenced(lines, at, { sign, language }, found) {
  const ends = (last) => last && last[1][0] === sign[0] && last[1].length >= sign.length;
  let end = at + 1;
  while (end < lines.length && !ends(FENCE_END.exec(lines[end]))) end++;
  found.push({ kind: 'code', language, text: lines.slice(at + 1, end).join('\n') });
  return end + 1;
}

/** title is what a heading says, without the signs that close it. */
function title(text) {
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end > 0 && end < text.length && /\s/.test(text[end - 1]) ? text.slice(0, end).trimEnd() : text;
}

/** divides says whether a line is the one below the head of a table. */
function divides(line) {
  return (
    line.includes('|') &&
    unframed(line)
      .split('|')
      .every((cell) => DIVIDER.test(cell.trim()))
  );
}

function quoted(lines, at, found, deep) {
  const inner = [];
  let end = at;
  for (let part; end < lines.length && (part = QUOTE.exec(lines[end])); end++) inner.push(part[1]);
  found.push({ kind: 'quote', blocks: blocks(inner.join('\n'), deep + 1) });
  return end;
}

function listed(lines, at, found, deep) {
  const first = ITEM.exec(lines[at]);
  const indent = first[1].length,
    ordered = /\d/.test(first[2]);
  const items = [];
  let end = at;
  for (; end < lines.length; end++) {
    const item = ITEM.exec(lines[end]);
    if (item && item[1].length <= indent + 1 && /\d/.test(item[2]) === ordered && item[1].length >= indent) {
      items.push([item[3]]);
    } else if (lines[end].trim() === '') {
      if (!/^\s{2,}\S/.test(lines[end + 1] ?? '') && !sameList(lines[end + 1], indent, ordered)) break;
      items[items.length - 1].push('');
    } else if (/^\s/.test(lines[end]) && leading(lines[end]) > indent) {
      items[items.length - 1].push(lines[end].slice(Math.min(leading(lines[end]), indent + first[2].length + 1)));
    } else if (item || opens(lines[end]) || lines[end - 1].trim() === '') {
      break;
    } else {
      items[items.length - 1].push(lines[end].trim());
    }
  }
  found.push({
    kind: 'list',
    ordered,
    start: ordered ? parseInt(first[2], 10) : 1,
    items: items.map((inner) => blocks(inner.join('\n'), deep + 1)),
  });
  return end;
}

function sameList(line, indent, ordered) {
  const item = ITEM.exec(line ?? '');
  return item !== null && item[1].length === indent && /\d/.test(item[2]) === ordered;
}

const leading = (line) => line.length - line.trimStart().length;

const opens = (line) => fenceOf(line) !== null || HEADING.test(line) || RULE.test(line) || QUOTE.test(line);

/** unframed is a row of a table without the strokes at its ends. */
function unframed(line) {
  const row = line.trim();
  const from = row.startsWith('|') ? 1 : 0;
  return row.slice(from, row.length > from && row.endsWith('|') && row.at(-2) !== '\\' ? -1 : undefined);
}

function cells(line) {
  return unframed(line)
    .split(/(?<!\\)\|/, 60)
    .map((cell) => cell.trim().replace(/\\\|/g, '|'));
}

function tabled(lines, at, found) {
  const rows = [];
  let end = at + 2;
  for (; end < lines.length && lines[end].includes('|') && lines[end].trim() !== ''; end++)
    rows.push(cells(lines[end]));
  found.push({ kind: 'table', head: cells(lines[at]), rows });
  return end;
}

function paragraph(lines, at, found, deep) {
  let end = at + 1;
  while (
    end < lines.length &&
    lines[end].trim() !== '' &&
    !opens(lines[end]) &&
    !(deep < DEEPEST && startsList(lines[end]))
  )
    end++;
  found.push({ kind: 'text', text: lines.slice(at, end).join('\n') });
  return end;
}

const startsList = (line) => /^ {0,3}(?:[-*+]|1[.)])[ \t]+\S/.test(line);

const INLINE = new RegExp(
  [
    '(?<escape>\\\\[!-/:-@[-`{-~])',
    '(?<ticks>`+)',
    '!?\\[(?<label>[^\\[\\]\\n]{0,500})\\]\\((?<href>[^()\\s]{1,2000}(?:\\([^()\\s]{0,200}\\)[^()\\s]{0,500})?)' +
      '(?:\\s+"[^"\\n]{0,300}")?\\)',
    '<(?<angle>https?://[^\\s<>]{1,2000})>',
    '(?<bare>https?://[^\\s<>"`|]{1,2000})',
    '(?<strong>\\*\\*(?=\\S)|__(?=\\S))',
    '(?<em>\\*(?=[^\\s*])|(?<![\\p{L}\\p{N}_])_(?=[^\\s_]))',
    '(?<strike>~~(?=\\S))',
  ].join('|'),
  'gu',
);

/**
 * inline reads the words of a line: code, emphasis, links.
 * @param {string} text
 * @param {number} [deep]
 */
export function inline(text, deep = 0) {
  const found = [];
  const form = new RegExp(INLINE.source, 'gu');
  const seen = { ticks: null, none: {} }; // where signs are, and up to where there are none
  let done = 0;
  for (let match; deep <= 4 && (match = form.exec(text));) {
    const span = spanOf(match, text, deep, seen);
    if (!span) {
      form.lastIndex =
        match.index + (match.groups.ticks?.length ?? match.groups.strong?.length ?? match.groups.strike?.length ?? 1);
      continue;
    }
    if (match.index > done) found.push({ kind: 'words', text: text.slice(done, match.index) });
    found.push(span.node);
    done = form.lastIndex = span.end;
  }
  if (done < text.length) found.push({ kind: 'words', text: text.slice(done) });
  return found;
}

function spanOf(match, text, deep, seen) {
  const { escape, ticks, label, href, angle, bare, strong, em, strike } = match.groups;
  const after = match.index + match[0].length;
  if (escape) return { node: { kind: 'words', text: escape[1] }, end: after };
  if (ticks) return codeSpan(text, after, ticks, seen);
  if (href !== undefined) return { node: { kind: 'link', href, parts: inline(label, deep + 3) }, end: after };
  if (angle) return { node: { kind: 'link', href: angle, parts: [] }, end: after };
  if (bare) {
    const href2 = withoutPoints(bare);
    return { node: { kind: 'link', href: href2, parts: [] }, end: match.index + href2.length };
  }
  const sign = strong ?? em ?? strike;
  const end = closing(text, after, sign, seen.none);
  if (end < 0) return null;
  return {
    node: { kind: strong ? 'strong' : em ? 'em' : 'strike', parts: inline(text.slice(after, end), deep + 1) },
    end: end + sign.length,
  };
}

/** withoutPoints is an address without what the sentence around it ends with. */
function withoutPoints(href) {
  let end = href.length;
  while ('.,;:!?\'")]*_'.includes(href[end - 1])) end--;
  return href.slice(0, end);
}

const FARTHEST = 2000; // how far away emphasis may end
const FARTHEST_CODE = 20000;

/** closing is where emphasis ends, or -1; none keeps up to where each sign ends nothing. */
function closing(text, from, sign, none) {
  let at = text.indexOf(sign, Math.max(from + 1, none[sign] ?? 0));
  while (at > 0 && at < from + FARTHEST && !closes(text, at, sign)) at = text.indexOf(sign, at + 1);
  if (at > 0 && at < from + FARTHEST) return at;
  none[sign] = at < 0 ? Infinity : at;
  return -1;
}

function closes(text, at, sign) {
  const next = text[at + 1] ?? '';
  if (/\s/.test(text[at - 1])) return false;
  if (sign.length === 1 && (text[at - 1] === sign || next === sign)) return false;
  return sign !== '_' || !/[\p{L}\p{N}]/u.test(next);
}

function codeSpan(text, from, ticks, seen) {
  seen.ticks ??= tickRuns(text);
  const ends = seen.ticks.get(ticks.length) ?? [];
  while (ends.at(-1) < from) ends.pop();
  const at = ends.at(-1);
  if (at === undefined || at - from >= FARTHEST_CODE) return null;
  const inner = text.slice(from, at).replace(/\n/g, ' ');
  const padded = inner.startsWith(' ') && inner.endsWith(' ') && inner.trim() !== '';
  return { node: { kind: 'code', text: padded ? inner.slice(1, -1) : inner }, end: at + ticks.length };
}

/** tickRuns is where backticks stand, by how many they are, the last first. */
function tickRuns(text) {
  const runs = new Map();
  for (const { 0: run, index } of text.matchAll(/`+/g)) {
    if (!runs.has(run.length)) runs.set(run.length, []);
    runs.get(run.length).push(index);
  }
  for (const places of runs.values()) places.reverse();
  return runs;
}

/**
 * markdown is foreign Markdown as nodes. Its headings are all of one level, the
 * one that fits where it stands: somebody's "######" must not tear the page's own order.
 * A text that is too long for that is shown as it stands, with a line that says so.
 * @param {string} text
 * @param {{heading?: number}} [options]
 * @returns {HTMLElement}
 */
export function markdown(text, { heading = 3 } = {}) {
  if ((text?.length ?? 0) > MOST) return asItStands(text);
  return h('div', { class: 'md', dir: 'auto' }, nodes(blocks(plain(text)), heading));
}

function asItStands(text) {
  return h(
    'div',
    { class: 'md', dir: 'auto' },
    h('p', { class: 'muted small' }, t.asItStands(Math.min(text.length, MOST_PLAIN), text.length)),
    h('div', { class: 'foreign' }, plain(text.slice(0, MOST_PLAIN))),
  );
}

const nodes = (list, heading) => list.map((b) => blockNode(b, heading));

function blockNode(b, heading) {
  switch (b.kind) {
    case 'heading':
      return h(`h${heading}`, { class: `md-${b.level}` }, words(b.text));
    case 'rule':
      return h('hr');
    case 'code':
      return h(
        'pre',
        { class: 'code', tabindex: '-1' },
        h('code', { dataset: { language: b.language || null } }, b.text),
      );
    case 'quote':
      return h('blockquote', null, nodes(b.blocks, heading));
    case 'list':
      return h(
        b.ordered ? 'ol' : 'ul',
        b.ordered && b.start !== 1 ? { start: b.start } : null,
        b.items.map((item) => itemNode(item, heading)),
      );
    case 'table':
      return tableNode(b);
    default:
      return h('p', null, words(b.text));
  }
}

function itemNode(inner, heading) {
  const [first, ...rest] = inner;
  if (first?.kind !== 'text') return h('li', null, nodes(inner, heading));
  const task = /^\[([ xX])\]\s+/.exec(first.text);
  return h(
    'li',
    null,
    task ? (task[1] === ' ' ? '☐ ' : '☑ ') : null,
    words(task ? first.text.slice(task[0].length) : first.text),
    nodes(rest, heading),
  );
}

function tableNode(b) {
  const wide = b.head.length;
  return scroller(
    t.tableOf,
    h(
      'table',
      null,
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          b.head.map((cell) => (cell ? h('th', { scope: 'col' }, words(cell)) : h('td'))),
        ),
      ),
      h(
        'tbody',
        null,
        b.rows.map((row) =>
          h(
            'tr',
            null,
            row.slice(0, wide).map((cell) => h('td', null, words(cell))),
            row.length < wide ? h('td', { colspan: wide - row.length }) : null,
          ),
        ),
      ),
    ),
  );
}

/** words are the nodes of one line of foreign Markdown. */
export function words(text) {
  return inline(text).map(inlineNode);
}

function inlineNode(part) {
  switch (part.kind) {
    case 'words':
      return part.text;
    case 'code':
      return h('code', null, part.text);
    case 'link':
      return link(part.href, part.parts.length ? textOf(part.parts) : undefined);
    case 'strong':
      return h('strong', null, part.parts.map(inlineNode));
    case 'em':
      return h('em', null, part.parts.map(inlineNode));
    default:
      return h('s', null, part.parts.map(inlineNode));
  }
}

function textOf(parts) {
  return parts.map((part) => part.text ?? textOf(part.parts)).join('');
}
