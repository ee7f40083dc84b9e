// Markdown of agents as nodes: headings, lists, code, emphasis, tables, quotes,
// links. HTML in it is text. It never throws, takes time in proportion to the
// text, and nests at most a few levels deep.

import { h, link, scroller } from './dom.js';
import { plain } from './plain.js';
import { t } from './texts.js';

const DEEPEST = 6;
const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:[ \t]+|$)(.*)$/;
const QUOTE = /^ {0,3}> ?(.*)$/;
const DIVIDER = /^ {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$/;

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
  const fence = FENCE.exec(line);
  if (fence) return fenced(lines, at, fence, found);
  const heading = HEADING.exec(line);
  if (heading) {
    found.push({ kind: 'heading', level: heading[1].length, text: heading[2] ?? '' });
    return at + 1;
  }
  if (RULE.test(line)) {
    found.push({ kind: 'rule' });
    return at + 1;
  }
  if (deep < DEEPEST && QUOTE.test(line)) return quoted(lines, at, found, deep);
  if (deep < DEEPEST && ITEM.test(line)) return listed(lines, at, found, deep);
  if (line.includes('|') && DIVIDER.test(lines[at + 1] ?? '') && (lines[at + 1] ?? '').includes('|'))
    return tabled(lines, at, found);
  return paragraph(lines, at, found, deep);
}

function fenced(lines, at, fence, found) {
  const close = new RegExp(`^ {0,3}${fence[1][0] === '`' ? '`' : '~'}{${fence[1].length},}\\s*$`);
  let end = at + 1;
  while (end < lines.length && !close.test(lines[end])) end++;
  found.push({ kind: 'code', language: fence[2].trim().split(/\s/)[0], text: lines.slice(at + 1, end).join('\n') });
  return end + 1;
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

const opens = (line) => FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line);

function cells(line) {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner
    .split(/(?<!\\)\|/)
    .slice(0, 60)
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
  let done = 0;
  for (let match; (match = form.exec(text));) {
    const span = deep > 4 ? null : spanOf(match, text, deep);
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

function spanOf(match, text, deep) {
  const { escape, ticks, label, href, angle, bare, strong, em, strike } = match.groups;
  const after = match.index + match[0].length;
  if (escape) return { node: { kind: 'words', text: escape[1] }, end: after };
  if (ticks) return codeSpan(text, after, ticks);
  if (href !== undefined) return { node: { kind: 'link', href, parts: inline(label, deep + 3) }, end: after };
  if (angle) return { node: { kind: 'link', href: angle, parts: [] }, end: after };
  if (bare) {
    const href2 = bare.replace(/[.,;:!?'")\]*_]+$/, '');
    return { node: { kind: 'link', href: href2, parts: [] }, end: match.index + href2.length };
  }
  const sign = strong ?? em ?? strike;
  const end = closing(text, after, sign);
  if (end < 0) return null;
  return {
    node: { kind: strong ? 'strong' : em ? 'em' : 'strike', parts: inline(text.slice(after, end), deep + 1) },
    end: end + sign.length,
  };
}

const FARTHEST = 2000; // how far away emphasis may end

function closing(text, from, sign) {
  const window = text.slice(from, from + FARTHEST);
  for (let at = window.indexOf(sign, 1); at > 0; at = window.indexOf(sign, at + 1)) {
    const single = sign.length === 1 && (window[at - 1] === sign || window[at + 1] === sign);
    if (!/\s/.test(window[at - 1]) && !single && !(sign === '_' && /[\p{L}\p{N}]/u.test(window[at + 1] ?? '')))
      return from + at;
  }
  return -1;
}

function codeSpan(text, from, ticks) {
  for (let at = text.indexOf(ticks, from); at >= 0 && at - from < 20000; at = text.indexOf(ticks, at + 1)) {
    if (text[at + ticks.length] === '`' || text[at - 1] === '`') continue;
    const inner = text.slice(from, at).replace(/\n/g, ' ');
    return {
      node: { kind: 'code', text: /^ .* $/.test(inner) && inner.trim() ? inner.slice(1, -1) : inner },
      end: at + ticks.length,
    };
  }
  return null;
}

/**
 * markdown is foreign Markdown as nodes. Its headings are all of one level, the
 * one that fits where it stands: somebody's "######" must not tear the page's own order.
 * @param {string} text
 * @param {{heading?: number}} [options]
 * @returns {HTMLElement}
 */
export function markdown(text, { heading = 3 } = {}) {
  return h('div', { class: 'md', dir: 'auto' }, nodes(blocks(plain(text)), heading));
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
            Array.from({ length: wide }, (_, i) => h('td', null, words(row[i] ?? ''))),
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
