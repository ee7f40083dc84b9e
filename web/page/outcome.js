// What an interaction came to: verdicts with their evidence, a council with its
// citations, what was found, what is offered next. A citation opens its line.

import { cited, isPath } from './cited.js';
import { append, h, plain, query, t } from './core.js';
import { markdown, words } from './markdown.js';

/** placeOf is the address of a cited line. */
export function placeOf(path, line, end) {
  return `/quest/file${query({ path, line, end })}`;
}

/** citation is one that was looked up: a link where it holds, with the reason where it does not. */
export function citation({ text, ok, reason }) {
  const [found] = cited(text);
  if (!ok || !found)
    return h(
      'span',
      { class: 'cite bad' },
      plain(text),
      ' ',
      h('span', { class: 'muted small' }, plain(reason ?? t.unknown)),
    );
  return h('a', { class: 'cite', href: placeOf(found.path, found.line, found.end) }, plain(text));
}

/** withCitations makes links of the places that a rendered text names. */
export function withCitations(node) {
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  const texts = [];
  while (walker.nextNode()) if (!walker.currentNode.parentElement?.closest('a, pre')) texts.push(walker.currentNode);
  for (const text of texts) linkIn(text);
  return node;
}

function linkIn(node) {
  const text = node.data,
    parts = [];
  let at = 0;
  for (const place of cited(text)) {
    if (!isPath(text, place)) continue;
    parts.push(
      text.slice(at, place.from),
      h('a', { class: 'cite', href: placeOf(place.path, place.line, place.end) }, text.slice(place.from, place.to)),
    );
    at = place.to;
  }
  if (parts.length === 0) return;
  const whole = document.createDocumentFragment();
  append(whole, [...parts, text.slice(at)]);
  node.replaceWith(whole);
}

const STATUSES = new Map([
  ['met', 'good'],
  ['not met', 'bad'],
  ['partially met', 'warn'],
]);

/** status is a verdict on a criterion as a badge; without one it says so. */
export function status(word) {
  return h('span', { class: `badge ${STATUSES.get(word) ?? ''}` }, plain(word || t.quest.notJudged));
}

const VERDICTS = new Map([
  ['Approved', 'good'],
  ['Blocked', 'bad'],
  ['Conditional Approval', 'warn'],
  ['Dragon Slain', 'good'],
  ['Dragon Prevails', 'bad'],
]);

/** verdict is what an evaluator said, as a badge. */
export const verdict = (word) =>
  h('span', { class: `badge ${VERDICTS.get(word) ?? ''}` }, plain(word || t.quest.noVerdict));

/**
 * outcome shows the result of an interaction.
 * @param {any} res
 * @param {{act?: (offer: any) => void}} [given] act does what an offer says; without it none is offered
 */
export function outcome(res, { act } = {}) {
  const council = res.council;
  return h(
    'div',
    { class: 'outcome' },
    res.ended_early ? h('p', { class: 'tell warn' }, t.outcome.early, ' ', plain(res.ended_early)) : null,
    res.verdict || res.dragon || res.guardian
      ? h(
          'p',
          { class: 'verdict' },
          verdict(res.verdict || res.dragon?.verdict || res.guardian?.verdict),
          ' ',
          plain(res.dragon?.summary ?? res.guardian?.summary ?? ''),
        )
      : null,
    res.dragon ? findings(res.dragon.criteria ?? [], res.checks ?? []) : null,
    list(t.outcome.gaps, res.guardian?.gaps),
    list(t.outcome.conditions, res.guardian?.conditions),
    council ? councilOf(council) : null,
    !res.dragon && !res.guardian && !council && res.outcome
      ? h('div', { class: 'md' }, withCitations(markdown(res.outcome, { heading: 4 })))
      : null,
    leaks(res.leaks),
    list(t.outcome.recommended, res.recommendations),
    list(t.outcome.unverified, res.unverified),
    list(t.outcome.logged, res.logged),
    (res.notes ?? []).map((note) => h('p', { class: 'muted small' }, plain(note))),
    h(
      'p',
      { class: 'row small' },
      res.conversation
        ? h('a', { href: `/quest/conversation/${encodeURIComponent(res.conversation)}` }, t.outcome.conversation)
        : null,
      (res.runs ?? [])
        .slice(0, 9)
        .map((run, i) =>
          h('a', { href: `/knowledge/${encodeURIComponent(run)}` }, t.outcome.record(i + 1, res.runs.length)),
        ),
    ),
    act && res.offers?.length ? offersOf(res.offers, act) : null,
  );
}

/** offersOf are the next steps as buttons. */
export function offersOf(offers, act) {
  return h(
    'div',
    { class: 'choices', role: 'group', 'aria-label': t.quest.next },
    offers.map((o) =>
      h(
        'button',
        { type: 'button', on: { click: () => act(o) } },
        plain(o.label),
        o.reason ? h('span', { class: 'muted small' }, plain(o.reason)) : null,
      ),
    ),
  );
}

function list(title, items) {
  if (!items?.length) return null;
  return [
    h('h3', null, title),
    h(
      'ul',
      null,
      items.map((item) => h('li', null, withCitations(markdown(item, { heading: 4 })))),
    ),
  ];
}

/** findings are the criteria of a verdict with evidence and checks. */
export function findings(criteria, checks = []) {
  return h(
    'ol',
    { class: 'findings' },
    criteria.map((f) => {
      const check = checks.find((c) => c.number === f.number);
      return h(
        'li',
        { value: f.number },
        status(f.status),
        ' ',
        withCitations(h('span', { class: 'foreign' }, words(plain(f.evidence)))),
        check
          ? h(
              'span',
              { class: `small ${check.state === 'failed' ? 'wrong' : 'muted'}` },
              ` ${t.quest.check(check.state)}${check.note ? `: ${plain(check.note)}` : ''}`,
            )
          : null,
      );
    }),
  );
}

function councilOf(council) {
  return [
    h('h3', null, t.outcome.consensus),
    h('div', { class: 'md' }, withCitations(markdown(council.consensus || t.outcome.noConsensus, { heading: 4 }))),
    council.dissent
      ? [
          h('h3', null, t.outcome.dissent),
          h('div', { class: 'md' }, withCitations(markdown(council.dissent, { heading: 4 }))),
        ]
      : null,
    list(t.outcome.nextSteps, council.next_steps),
    h(
      'div',
      { class: 'voices' },
      (council.perspectives ?? []).map((p) =>
        h(
          'details',
          null,
          h('summary', null, plain(p.name), ' ', h('span', { class: 'muted small' }, plain(p.lens))),
          h('div', { class: 'md' }, withCitations(markdown(p.text, { heading: 4 }))),
          p.citations?.length ? h('p', { class: 'row small' }, t.outcome.cites, p.citations.map(citation)) : null,
        ),
      ),
    ),
  ];
}

function leaks(found) {
  if (!found?.length) return null;
  return [
    h('h3', null, t.outcome.leaks),
    h('p', { class: 'muted' }, t.outcome.leaksHint),
    h(
      'ul',
      null,
      found
        .slice(0, 50)
        .map((leak) =>
          h(
            'li',
            null,
            h('code', null, `${plain(leak.where)}${leak.line ? `:${leak.line}` : ''}`),
            ' ← ',
            plain(leak.source),
            leak.text ? h('blockquote', { class: 'foreign small' }, plain(leak.text)) : null,
          ),
        ),
    ),
  ];
}

/**
 * lines shows a piece of a file with its numbers; the one that is meant is marked.
 * @param {{from: number, lines: string[], line?: number, end?: number, caption: string}} given
 */
export function lines({ from, lines: list_, line, end, caption }) {
  return h(
    'div',
    { class: 'scroll' },
    h(
      'table',
      { class: 'source' },
      h('caption', null, caption),
      h(
        'tbody',
        null,
        list_.map((text, i) => {
          const n = from + i,
            meant = line && n >= line && n <= (end || line);
          return h(
            'tr',
            { class: meant ? 'meant' : null, id: `L${n}` },
            h('th', { scope: 'row', class: 'num' }, n),
            h('td', { class: 'mono foreign' }, meant ? h('mark', null, plain(text) || ' ') : plain(text)),
          );
        }),
      ),
    ),
  );
}
