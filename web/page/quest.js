// The quest: its phases, criteria with evidence, who helps with what, what was
// done and said; and everything that a person does with it.

import {
  api,
  filters,
  h,
  heading,
  notice,
  number,
  offer as offerAction,
  page,
  plain,
  query,
  readOnly,
  renew,
  replace,
  spent,
  t,
  titled,
  trouble,
  when,
} from './core.js';
import { deedsOf, follow } from './deeds.js';
import { actions } from './forms.js';
import { panel, start, way } from './jobs.js';
import { markdown, words } from './markdown.js';
import { lines, offersOf, outcome, status, verdict, withCitations } from './outcome.js';

const VERBS = new Set([
  'StartQuest',
  'ContinueQuest',
  'RepairQuest',
  'LogProgress',
  'WithdrawProgress',
  'ReturnToQuest',
  'ArchiveQuest',
  'Consult',
  'Council',
  'Checkpoint',
  'Confront',
  'Debrief',
  'Gate',
]);

export function register() {
  page({ path: '/quest', title: t.quest.title, nav: { label: t.quest.title, key: 'q', icon: 'quest' }, render });
  page({ path: '/quest/conversation/:name', title: t.quest.conversation, render: renderConversation });
  page({ path: '/quest/file', title: t.quest.file, render: renderFile });
}

async function render(el, _, signal) {
  const head = h('div'),
    body = h('div'),
    deeds = h('div', { class: 'noprint' }),
    next = h('div', { class: 'noprint' });
  let quest = null,
    forms = null,
    offered = false, // the newest result has the next steps
    palette = new AbortController();
  const act = (boundary) => (o) => follow(o, { forms, begun, quest, boundary, choose });
  const choose = (offers) => {
    replace(next, h('h2', null, t.quest.next), offersOf(offers, act()));
    next.querySelector('button').focus();
  };
  const begun = () => jobs.scrollIntoView({ block: 'nearest' });
  const jobs = panel({
    belongs: (job) => VERBS.has(job.verb),
    signal,
    ended: (job, foot) => {
      for (const older of jobs.querySelectorAll('.job-foot .choices')) older.remove();
      offered = !readOnly && job.results?.[0]?.offers?.length > 0;
      foot.append(cameTo(job, readOnly ? null : act(job.results?.[0]?.boundary)));
      refresh().catch((err) => signal.aborted || notice(err.message));
    },
  });
  const refresh = async () => {
    quest = await api('/api/quest', { signal });
    titled(quest.none ? t.quest.title : quest.title);
    renew(head, headOf(quest));
    renew(body, bodyOf(quest, begun));
    replace(
      next,
      quest.offers?.length && !readOnly && !offered
        ? [h('h2', null, t.quest.next), offersOf(quest.offers, act())]
        : null,
    );
    if (readOnly) return;
    const list = deedsOf(quest);
    if (forms) forms.update(list);
    else {
      forms = actions(list, { label: t.quest.deeds, begun });
      replace(deeds, h('h2', null, t.quest.deeds), forms.el);
    }
    palette.abort();
    palette = new AbortController();
    for (const deed of list) offerAction(deed.label, () => forms.show(deed.name), palette.signal);
  };
  signal.addEventListener('abort', () => palette.abort());
  await refresh();
  replace(el, head, jobs, next, deeds, body);
}

/** cameTo is what a verb of the quest came to. */
function cameTo(job, act) {
  const res = job.results?.[0];
  if (res && typeof res === 'object') return job.verb === 'Gate' ? gateAnswer(res) : outcome(res, { act });
  return job.error ? '' : h('p', { class: 'muted' }, typeof res === 'string' && res ? plain(res) : t.quest.done);
}

// What there is to see.

function headOf(quest) {
  if (quest.none) {
    return [heading(t.quest.none), h('p', { class: 'lede' }, t.quest.noneHint), openOnes(quest)];
  }
  return [
    h(
      'div',
      { class: 'spread' },
      heading(quest.title),
      h(
        'span',
        { class: 'row' },
        h('span', { class: 'badge accent' }, plain(quest.mode)),
        h('span', { class: 'muted small' }, t.quest.since(plain(quest.created))),
      ),
    ),
    h('div', { class: 'lede md' }, markdown(quest.narrative || '', { heading: 2 })),
    h(
      'ol',
      { class: 'phases', 'aria-label': t.quest.phases },
      quest.phases.map((name, i) => {
        const at = i + 1,
          here = at === quest.phase;
        return h(
          'li',
          { class: here ? 'here' : at < quest.phase ? 'past' : null, 'aria-current': here ? 'step' : null },
          h('span', { class: 'n', 'aria-hidden': 'true' }, at),
          h('span', null, plain(name)),
          h('span', { class: 'unseen' }, here ? t.quest.here : at < quest.phase ? t.quest.past : t.quest.ahead),
        );
      }),
    ),
    quest.why || quest.problem ? way(quest.why || quest.problem, 'no') : null,
    (quest.faults ?? []).map((f) =>
      h(
        'p',
        { class: 'tell warn' },
        plain(`${f.file}${f.line ? `:${f.line}` : ''}: ${f.message}`),
        f.offer ? ` ${t.quest.canRepair(plain(f.offer))}` : '',
      ),
    ),
    openOnes(quest),
    quest.holder ? h('p', { class: 'tell' }, quest.here ? t.quest.heldHere : t.quest.held(plain(quest.holder))) : null,
  ];
}

function openOnes(quest) {
  if (!quest.open?.length) return null;
  return h(
    'div',
    { class: quest.holder ? 'tell' : 'tell warn' },
    h('strong', null, quest.holder ? t.quest.underWay : t.quest.open),
    h(
      'ul',
      null,
      quest.open.map((o) => h('li', null, plain(o.what))),
    ),
  );
}

function bodyOf(quest, begun) {
  if (quest.none) return conversationsOf(quest);
  return h(
    'div',
    { class: 'columns' },
    h('div', null, criteriaOf(quest), dragonOf(quest), assignmentsOf(quest)),
    h('div', null, progressOf(quest, begun), conversationsOf(quest), costsOf(quest)),
  );
}

function criteriaOf(quest) {
  const found = new Map((quest.judged?.findings ?? []).map((f) => [f.number, f]));
  return h(
    'section',
    { 'aria-labelledby': 'criteria' },
    h('h2', { id: 'criteria', tabindex: '-1' }, t.quest.criteria),
    h(
      'p',
      { class: 'row' },
      quest.last_confrontation || quest.judged
        ? [t.quest.dragonSaid, verdict(quest.last_confrontation)]
        : h('span', { class: 'muted' }, t.quest.notFaced),
      quest.last_checkpoint ? [t.quest.guardianSaid, verdict(quest.last_checkpoint)] : null,
    ),
    quest.criteria.length === 0
      ? h('p', { class: 'muted' }, t.nothing)
      : h(
          'ol',
          { class: 'criteria' },
          quest.criteria.map((c) => {
            const f = found.get(c.number);
            return h(
              'li',
              { value: c.number },
              h(
                'div',
                { class: 'spread' },
                h('div', { class: 'grow md' }, markdown(c.text, { heading: 3 })),
                status(f?.status),
              ),
              f
                ? h(
                    'p',
                    { class: 'evidence' },
                    h('span', { class: 'label' }, t.quest.evidence),
                    ' ',
                    withCitations(h('span', { class: 'foreign' }, words(plain(f.evidence)))),
                  )
                : null,
            );
          }),
        ),
    quest.judged
      ? h(
          'p',
          { class: 'small' },
          h('a', { href: `/quest/conversation/${encodeURIComponent(quest.judged.conversation)}` }, t.quest.judgedIn),
        )
      : null,
  );
}

function dragonOf(quest) {
  if (!quest.anticipated_dragon) return null;
  return h(
    'section',
    null,
    h('h2', null, t.quest.dragon),
    h('div', { class: 'md' }, markdown(quest.anticipated_dragon, { heading: 3 })),
  );
}

function assignmentsOf(quest) {
  if (!quest.assignments?.length) return null;
  const who = (a) =>
    a?.name ? [plain(a.name), a.reason ? h('span', { class: 'muted small' }, ` ${plain(a.reason)}`) : null] : '–';
  return h(
    'section',
    null,
    h('h2', null, t.quest.assignments),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t.quest.assignments },
      h(
        'table',
        null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'col' }, t.quest.criterion),
            h('th', { scope: 'col' }, t.quest.primary),
            h('th', { scope: 'col' }, t.quest.secondary),
          ),
        ),
        h(
          'tbody',
          null,
          quest.assignments.map((a) =>
            h(
              'tr',
              null,
              h('td', null, plain(a.criterion)),
              h('td', null, who(a.primary)),
              h('td', null, who(a.secondary)),
            ),
          ),
        ),
      ),
    ),
  );
}

function progressOf(quest, begun) {
  return h(
    'section',
    null,
    h('h2', null, t.quest.progress),
    quest.progress.length === 0
      ? h('p', { class: 'muted' }, t.nothing)
      : h(
          'ol',
          { class: 'progress' },
          quest.progress.map((e, i) =>
            h(
              'li',
              null,
              h(
                'div',
                { class: 'spread' },
                h(
                  'span',
                  { class: 'grow foreign' },
                  e.label ? h('strong', null, plain(e.label), ' ') : null,
                  plain(e.text),
                ),
                h('span', { class: 'muted small nowrap' }, plain(e.date ?? '')),
              ),
              e.kind === 'progress' && !readOnly
                ? h(
                    'button',
                    {
                      type: 'button',
                      class: 'quiet small',
                      'aria-label': t.quest.withdrawN(i + 1),
                      on: {
                        click: () =>
                          start({ verb: 'WithdrawProgress' }, { Once: true }, i + 1).then(begun, (err) =>
                            notice(err.message),
                          ),
                      },
                    },
                    t.quest.withdraw,
                  )
                : null,
            ),
          ),
        ),
  );
}

function conversationsOf(quest) {
  const list = quest.conversations ?? [];
  return h(
    'section',
    null,
    h('h2', null, t.quest.conversations),
    list.length === 0
      ? h('p', { class: 'muted' }, t.quest.noConversations)
      : h(
          'ul',
          { class: 'plainlist' },
          list
            .toReversed()
            .map((c) =>
              h(
                'li',
                { class: 'spread' },
                h(
                  'a',
                  { href: `/quest/conversation/${encodeURIComponent(c.name)}` },
                  `${faceOf(quest, c.agent)}${plain(c.purpose || c.name)}`,
                ),
                h(
                  'span',
                  { class: 'muted small' },
                  c.fault ? plain(c.fault) : c.date ? when(c.date, { relative: false }) : '',
                ),
              ),
            ),
        ),
  );
}

function faceOf(quest, role) {
  const found = quest.cast?.find((c) => c.role === role);
  return found ? `${found.emoji} ${found.name}: ` : role ? `${plain(role)}: ` : '';
}

function costsOf(quest) {
  if (!quest.costs?.length) return null;
  const tokens = quest.costs.reduce((sum, c) => sum + c.input_tokens + c.output_tokens, 0);
  return h(
    'section',
    null,
    h('h2', null, t.quest.costs),
    h('p', { class: 'muted' }, tokens === 0 ? t.quest.noTokens : t.quest.costHint),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': t.quest.costs },
      h(
        'table',
        null,
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            [t.quest.phase, t.quest.role, t.quest.turns, t.figures.input, t.figures.output, t.figures.cost].map(
              (text, i) => h('th', { scope: 'col', class: i > 1 ? 'num' : null }, text),
            ),
          ),
        ),
        h(
          'tbody',
          null,
          quest.costs.map((c) =>
            h(
              'tr',
              null,
              h('td', null, plain(c.phase)),
              h('td', null, plain(c.role)),
              [number(c.turns), number(c.input_tokens), number(c.output_tokens), spent([c])].map((text) =>
                h('td', { class: 'num' }, text),
              ),
            ),
          ),
        ),
        h(
          'tfoot',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'row', colspan: 5 }, t.figures.total),
            h('td', { class: 'num' }, spent(quest.costs)),
          ),
        ),
      ),
    ),
  );
}

function gateAnswer(res) {
  const g = t.quest.gate,
    decided = res.decision ?? {};
  return h(
    'div',
    { class: 'outcome' },
    h('p', { class: 'verdict' }, status(decided.outcome)),
    decided.criteria?.length
      ? h(
          'ol',
          { class: 'findings' },
          decided.criteria.map((c) =>
            h(
              'li',
              { value: c.number },
              status(c.status),
              ' ',
              h('span', { class: 'muted small' }, g.votes(c.met, c.not_met, c.abstained)),
              ' ',
              plain(c.why ?? ''),
            ),
          ),
        )
      : null,
    res.leaks?.length ? outcome({ leaks: res.leaks }) : null,
    res.cached ? h('p', { class: 'muted small' }, g.cached) : null,
    res.receipt
      ? h(
          'p',
          { class: 'small' },
          g.receipt,
          ' ',
          h('code', null, plain(res.receipt)),
          res.signed_by ? ` ${g.signed(plain(res.signed_by))}` : ` ${g.unsigned}`,
        )
      : null,
    h(
      'details',
      null,
      h('summary', null, g.whole),
      h('pre', { class: 'foreign code' }, plain(JSON.stringify(res, null, 2))),
    ),
  );
}

// One conversation, one file.

async function renderConversation(el, { name }, signal) {
  const { line } = filters();
  const { text } = await api(`/api/quest/text${query({ conversation: name })}`, { signal });
  const head = /^---\n([\s\S]*?)\n---\n/.exec(text);
  const facts = (head?.[1] ?? '')
    .split('\n')
    .map((row) => /^([^:]+):(.*)$/s.exec(row)?.slice(1))
    .filter((fact) => fact?.[1].trim());
  titled(name);
  const all = text.split('\n');
  replace(
    el,
    h('p', null, h('a', { href: '/quest' }, `← ${t.quest.title}`)),
    heading(name),
    h(
      'p',
      { class: 'row' },
      facts.map(([key, value]) => h('span', { class: 'badge' }, `${plain(key)}: ${plain(value.trim())}`)),
    ),
    line
      ? lines({ from: 1, lines: all, line: Number(line), caption: plain(name) })
      : [
          h('div', { class: 'sheet md' }, withCitations(markdown(text.slice(head?.[0].length ?? 0), { heading: 2 }))),
          h('p', null, h('a', { href: `/quest/conversation/${encodeURIComponent(name)}?line=1` }, t.quest.byLines)),
        ],
  );
  if (line) el.querySelector(`#L${CSS.escape(line)}`)?.scrollIntoView({ block: 'center' });
}

async function renderFile(el, _, signal) {
  const { path, line, end } = filters();
  const back = h('p', null, h('a', { href: '/quest' }, `← ${t.quest.title}`));
  titled(`${path}:${line}`);
  try {
    const got = await api(`/api/quest/file${query({ path, line, end })}`, { signal });
    replace(
      el,
      back,
      heading(got.path),
      h('p', { class: 'muted' }, t.quest.lineOf(line, number(got.total))),
      lines({ from: got.from, lines: got.lines, line: Number(line), end: Number(end) || 0, caption: t.quest.around }),
    );
    el.querySelector('tr.meant')?.scrollIntoView({ block: 'center' });
  } catch (err) {
    if (signal.aborted) return;
    replace(el, back, heading(path ?? ''), trouble(err));
  }
}
