// Tables: how each stands, its story and its dice with what proves them, by the
// seat that looks; and what a person does there. A job belongs to the seat that
// began it: who looks from another sees nothing of it.

import {
  api,
  counted,
  filters,
  go,
  h,
  heading,
  notice,
  offer,
  page,
  plain,
  query,
  readOnly,
  renew,
  replace,
  t,
  titled,
  when,
} from './core.js';
import { actions, said } from './forms.js';
import { panel, start } from './jobs.js';
import { markdown } from './markdown.js';
import { nameOf, seatPicker } from './ways.js';

const k = t.table;

export function register() {
  page({ path: '/table', title: k.title, nav: { label: k.title, key: 't', icon: 'table' }, render: renderList });
  page({ path: '/table/:name', title: k.title, render: renderTable });
}

async function renderList(el, _, signal) {
  const place = h('div');
  const refresh = async () => {
    const { tables } = await api('/api/tables', { signal });
    replace(
      place,
      tables.length === 0 ? h('p', { class: 'muted' }, k.noTables) : h('div', { class: 'cards' }, tables.map(card)),
    );
  };
  const jobs = panel({
    belongs: (job) => job.verb === 'NewTable' || job.verb === 'TalkNewTable',
    signal,
    ended: (job, foot) => {
      const [name] = job.args,
        sit = job.results?.[0]; // without one a table in talk is not written yet
      if (!job.error && (sit || job.verb === 'NewTable')) foot.append(toTable(name, sit, k.sitDown(plain(name))));
      refresh().catch((err) => notice(err.message));
    },
  });
  await refresh();
  const { adventures } = await api('/api/tables', { signal });
  replace(
    el,
    heading(k.title),
    h('p', { class: 'lede' }, k.lede),
    jobs,
    place,
    readOnly ? null : actions(newTables(adventures), { label: k.begin }).el,
  );
}

const toTable = (name, seat, text) =>
  h('p', null, h('a', { href: `/table/${encodeURIComponent(name)}${query({ as: seat })}` }, text));

function card(x) {
  return h(
    'div',
    { class: 'card' },
    h('h2', null, h('a', { href: `/table/${encodeURIComponent(x.campaign)}` }, plain(x.campaign))),
    h('p', { class: 'row' }, stateOf(x)),
    x.scene
      ? h(
          'p',
          null,
          plain(x.scene.title),
          h('span', { class: 'muted' }, x.scene.place ? ` · ${plain(x.scene.place)}` : ''),
        )
      : null,
    h('p', { class: 'muted small' }, (x.characters ?? []).map((c) => plain(c.name)).join(', ')),
  );
}

function stateOf(x) {
  const state = x.holder ? 'working' : x.open?.length || x.awaited ? 'waiting' : x.in_session ? 'idle' : 'stale';
  return h('span', { class: `state ${state}` }, plain(x.state));
}

function newTables(adventures) {
  const name = { name: 'name', label: k.name, kind: 'line', required: true, hint: k.nameHint };
  return [
    {
      name: 'adventure',
      label: k.fromAdventure,
      about: k.adventureHint,
      verb: 'NewTable',
      go: k.make,
      fields: [name, { name: 'from', label: k.adventure, kind: 'choice', options: adventures.map((a) => [a, a]) }],
      args: (v) => [v.name, v.from, []],
    },
    {
      name: 'blank',
      label: k.blank,
      about: k.blankHint,
      verb: 'NewTable',
      go: k.make,
      fields: [
        name,
        { name: 'characters', label: k.characters, kind: 'paths', required: true, hint: k.charactersHint },
      ],
      args: (v) => [v.name, '', v.characters],
    },
    {
      name: 'talk',
      label: k.inTalk,
      about: k.talkHint,
      verb: 'TalkNewTable',
      go: k.begin,
      fields: [name],
      args: (v) => [v.name, ''],
    },
  ];
}

// One table, from one seat.

const VIEWS = ['story', 'play', 'dice', 'journal', 'stands'];

async function renderTable(el, { name }, signal) {
  const seat = filters().as ?? 'table',
    head = h('div'),
    body = h('div'),
    deeds = h('div', { class: 'noprint' });
  let forms = null,
    palette = new AbortController();
  const seated = { Table: name, As: seat === 'table' ? [] : [seat] };
  const jobs = panel({
    belongs: (job) => job.args?.[0]?.Table === name && job.seat === seat,
    signal,
    ended: (job, foot) => {
      foot.append(result(job) ?? '');
      refresh().catch((err) => notice(err.message));
    },
  });
  const refresh = async () => {
    const view = await api(`/api/table/${encodeURIComponent(name)}${query({ as: seat })}`, { signal });
    titled(name);
    renew(head, headOf(view, name, seat));
    renew(body, viewsOf(view, seated));
    if (readOnly) return;
    const list = deedsOf(view, seated).map((deed) => ({ ...deed, seat }));
    if (forms) forms.update(list);
    else {
      forms = actions(list, { label: k.deeds, begun: () => jobs.scrollIntoView({ block: 'nearest' }) });
      replace(deeds, h('h2', null, k.deeds), forms.el);
    }
    palette.abort();
    palette = new AbortController();
    for (const deed of list) offer(deed.label, () => forms.show(deed.name), palette.signal);
  };
  signal.addEventListener('abort', () => palette.abort());
  await refresh();
  replace(el, head, jobs, deeds, body);
}

/** result is what a verb at a table came to, in words. */
function result({ verb, args, seat, results, error }) {
  if (error) return null;
  if (verb === 'ForkTable') return toTable(args[1], seat === 'table' ? '' : seat, k.sitDown(plain(args[1])));
  const text = wordsFor(verb, results?.[0]);
  return text ? h('pre', { class: 'foreign' }, plain(text)) : h('p', { class: 'muted' }, t.quest.done);
}

function wordsFor(verb, first) {
  const own = {
    SayAtTable: () => first && k.kept(first),
    SaveTable: () => k.saved(first.name),
    RestoreTable: () => k.restored(first),
    EndSession: () => (first ? k.ended : k.notInSession),
    Seats: () => first.map((x) => [x.Name, x.Agent, x.Status].filter(Boolean).join(' · ')).join('\n'),
    SeedDice: () => k.bound(first),
    RotateDice: () => k.bound(first),
    SealDice: () => k.sealed(first.n + 1, first.kept),
    Roll: () => first.join('\n'),
  }[verb];
  return own ? own() : typeof first === 'string' ? first : '';
}

function headOf(view, name, seat) {
  return [
    h(
      'p',
      { class: 'row' },
      h('a', { href: '/table' }, `← ${k.title}`),
      h('a', { href: `/knowledge/secrets/${encodeURIComponent(name)}${query({ as: seat })}` }, t.knowledge.secrets),
    ),
    h(
      'div',
      { class: 'spread' },
      heading(name),
      h('span', { class: 'row' }, stateOf(view), h('span', { class: 'muted small' }, k.at(view.session, view.cycle))),
    ),
    view.scene
      ? h('p', { class: 'lede' }, plain(view.scene.title), view.scene.place ? ` · ${plain(view.scene.place)}` : '')
      : null,
    seatPicker(view.seats, seat, (to) =>
      go(`${location.pathname}${query({ ...filters(), as: to === 'table' ? null : to })}`),
    ),
    seat === 'gm' ? h('p', { class: 'tell warn' }, k.gmSpoils) : null,
    view.waiting ? h('p', { class: 'tell' }, k.waits(plain(view.waiting))) : null,
    (view.problems ?? []).map((p) => h('p', { class: 'tell warn' }, plain(p))),
    (view.told ?? []).map((x) => h('p', { class: 'tell warn' }, plain(x.Text ?? x.text ?? JSON.stringify(x)))),
  ];
}

function viewsOf(view, seated) {
  const shown = VIEWS.includes(filters().view) ? filters().view : 'story';
  const draw = { story: storyOf, play: playOf, dice: diceOf, journal: journalOf, stands: standsOf }[shown];
  return [
    h(
      'nav',
      { class: 'row', 'aria-label': k.views },
      VIEWS.filter((v) => v !== 'journal' || view.journal).map((v) =>
        h(
          'a',
          {
            class: 'button',
            href: `${location.pathname}${query({ ...filters(), view: v === 'story' ? null : v })}`,
            'aria-current': v === shown ? 'page' : null,
          },
          k.view[v],
        ),
      ),
    ),
    h('section', { 'aria-label': k.view[shown] }, draw(view, seated)),
  ];
}

const body = (text) => text.replace(/^# .*\n/, '').trim();
const storyOf = (view) =>
  body(view.story)
    ? h('div', { class: 'story md' }, markdown(body(view.story), { heading: 2 }))
    : h('p', { class: 'muted' }, k.noStory);
const playOf = (view) =>
  body(view.play)
    ? h('div', { class: 'story md' }, markdown(body(view.play), { heading: 2 }))
    : h('p', { class: 'muted' }, k.noStory);
const journalOf = (view) => h('div', { class: 'story md' }, markdown(view.journal ?? '', { heading: 2 }));

function standsOf(view) {
  return [
    h('h2', null, k.seats),
    h(
      'ul',
      { class: 'plainlist' },
      (view.characters ?? []).map((c) =>
        h(
          'li',
          { class: 'spread' },
          plain(c.name),
          h('span', { class: 'muted small' }, plain(c.status), c.away ? ` · ${k.away}` : ''),
        ),
      ),
    ),
    h('h2', null, k.saves),
    view.saves?.length
      ? h(
          'ul',
          { class: 'plainlist' },
          view.saves
            .toReversed()
            .map((x) =>
              h(
                'li',
                { class: 'spread' },
                h('span', null, h('code', null, plain(x.name)), ' ', plain(x.scene ?? '')),
                h('span', { class: 'muted small row' }, k.at(x.session, x.cycle), when(x.time)),
              ),
            ),
        )
      : h('p', { class: 'muted' }, k.noSaves),
  ];
}

// Dice.

function diceOf(view, seated) {
  if (!view.proof) return h('p', { class: 'muted' }, k.noDice);
  const rolls = view.dice.filter((l) => l.event === 'roll' || l.event === 'void');
  const opened = new Set(view.dice.filter((l) => l.event === 'reveal').map((l) => l.of));
  return [
    proofOf(view.proof, view.dice),
    h('h2', null, k.rolls(rolls.length)),
    h(
      'ol',
      { class: 'rolls' },
      rolls.toReversed().map((l) =>
        h(
          'li',
          null,
          h(
            'div',
            { class: 'spread' },
            h('span', { class: 'foreign' }, plain(l.told)),
            h(
              'span',
              { class: 'row' },
              l.visibility && l.visibility !== 'open'
                ? h('span', { class: 'badge' }, opened.has(l.n) ? k.opened : plain(l.visibility))
                : null,
              !readOnly && seated.As[0] === 'gm' && l.visibility !== 'open' && !opened.has(l.n)
                ? h(
                    'button',
                    {
                      type: 'button',
                      class: 'quiet small',
                      'aria-label': k.revealN(l.n),
                      on: {
                        click: () =>
                          start({ verb: 'RevealRoll', seat: 'gm' }, seated, String(l.n)).catch((err) =>
                            notice(err.message),
                          ),
                      },
                    },
                    k.reveal,
                  )
                : null,
            ),
          ),
          overridesOf(view.dice, l.n),
          h(
            'details',
            null,
            h('summary', { class: 'small muted' }, k.lineProof),
            h('p', { class: 'hash' }, k.hash(plain(l.hash ?? ''), plain(l.prev ?? ''))),
          ),
        ),
      ),
    ),
  ];
}

const overridesOf = (lines, n) =>
  lines
    .filter((l) => l.event === 'override' && l.of === n)
    .map((l) => h('p', { class: 'small' }, k.override(l.total == null ? t.unknown : l.total, plain(l.note ?? ''))));

function proofOf(proof, lines) {
  const again = h(
    'button',
    {
      type: 'button',
      on: {
        click: async () => {
          await go(location.pathname + location.search, { replace: true });
          notice(k.checked);
        },
      },
    },
    k.checkAgain,
  );
  return h(
    'section',
    { class: 'sheet', 'aria-labelledby': 'proof' },
    h('div', { class: 'spread' }, h('h2', { id: 'proof' }, k.proof), again),
    h('p', { class: 'muted' }, k.proofHint),
    proof.problem
      ? h('p', { class: 'tell warn' }, plain(proof.problem))
      : h(
          'p',
          null,
          h('span', { class: 'badge good' }, k.holds),
          ' ',
          k.lines(proof.lines, proof.rolls, proof.overrides),
        ),
    h(
      'ul',
      { class: 'plainlist' },
      (proof.epochs ?? []).map((e) => {
        const seed = lines.find((l) => l.event === 'seed' && l.epoch === e.epoch)?.seed;
        return h(
          'li',
          null,
          h('strong', null, k.epoch(e.epoch)),
          ' ',
          h(
            'span',
            { class: `badge ${e.state === 'verified' ? 'good' : e.state === 'open' ? 'accent' : 'warn'}` },
            k.epochs[e.state] ?? plain(e.state),
          ),
          ' ',
          counted(e.rolls, 'roll', 'rolls'),
          h('p', { class: 'hash' }, k.commitment(plain(e.commit))),
          e.client ? h('p', { class: 'small' }, k.words(plain(e.client))) : null,
          h('p', { class: 'hash' }, seed ? k.seed(plain(seed)) : k.seedHidden),
        );
      }),
    ),
    h('p', { class: 'hash' }, k.head(plain(proof.head))),
  );
}

// What a person can do.

/** @returns {import('./forms.js').Action[]} */
function deedsOf(view, seated) {
  const character = seated.As[0] && seated.As[0] !== 'gm';
  const people = (view.characters ?? []).map((c) => [c.slug, c.name]);
  const d = k.deed;
  const list = [
    {
      name: 'play',
      ...d.play,
      verb: 'PlayTable',
      fields: [
        { name: 'turns', label: k.turns, kind: 'number', hint: k.turnsHint },
        { name: 'auto', label: k.auto, kind: 'check', hint: k.autoHint },
        { name: 'end', label: k.endAfter, kind: 'check' },
      ],
      args: (v) => [{ ...seated, As: v.auto ? [] : seated.As, MaxTurns: v.turns, Auto: v.auto, End: v.end }],
    },
    {
      name: 'say',
      ...d.say,
      verb: 'SayAtTable',
      fields: [{ name: 'text', label: k.sayAs(nameOf(view.seat)), kind: 'lines', required: true }],
      args: (v) => [seated, v.text],
    },
    {
      name: 'roll',
      ...d.roll,
      verb: 'Roll',
      fields: [
        { name: 'expr', label: k.expr, kind: 'line', required: true, hint: k.exprHint },
        { name: 'purpose', label: k.purpose, kind: 'line' },
        { name: 'visibility', label: k.visibility, kind: 'choice', options: k.visibilities },
      ],
      args: (v) => [
        { ...seated, Expr: v.expr, Who: seated.As[0] ?? 'table', Purpose: v.purpose, Visibility: v.visibility },
      ],
    },
    {
      name: 'save',
      ...d.save,
      verb: 'SaveTable',
      fields: [{ name: 'point', label: k.point, kind: 'line', required: true, hint: k.nameHint }],
      args: (v) => [seated, v.point],
    },
    view.saves?.length
      ? {
          name: 'restore',
          ...d.restore,
          verb: 'RestoreTable',
          danger: true,
          fields: [
            {
              name: 'point',
              label: k.point,
              kind: 'choice',
              options: view.saves.toReversed().map((x) => [x.name, `${x.name} · ${x.scene ?? ''}`]),
            },
          ],
          args: (v) => [seated, v.point],
        }
      : null,
    view.open?.length ? { name: 'resume', ...d.resume, verb: 'ResumeTable', fields: [], args: () => [seated] } : null,
    view.in_session ? { name: 'end', ...d.end, verb: 'EndSession', fields: [], args: () => [seated] } : null,
    character ? leaving(view, seated) : null,
    people.length
      ? {
          name: 'chat',
          ...d.chat,
          verb: 'ChatWithCharacter',
          fields: [
            { name: 'who', label: k.who, kind: 'choice', options: people, value: character ? seated.As[0] : undefined },
            { name: 'message', label: t.quest.words, kind: 'lines', hint: k.chatHint },
          ],
          args: (v) => [{ Table: seated.Table, Character: v.who, Message: said(v.message) }],
        }
      : null,
    ...(seated.As[0] === 'gm' ? masterDeeds(view, seated, people) : []),
    ...diceDeeds(view, seated),
    {
      name: 'fork',
      ...d.fork,
      verb: 'ForkTable',
      fields: [{ name: 'name', label: k.name, kind: 'line', required: true, hint: k.nameHint }],
      args: (v) => [seated, v.name, ''],
    },
  ];
  return list.filter(Boolean);
}

/** leaving is a seat that is left to an agent, or taken again. */
function leaving(view, seated) {
  const [seat] = seated.As;
  return view.characters?.find((c) => c.slug === seat)?.away
    ? { name: 'back', ...k.deed.back, verb: 'Seats', fields: [], args: () => [seated, { Back: seat }] }
    : { name: 'away', ...k.deed.away, verb: 'Seats', fields: [], args: () => [seated, { Away: seat }] };
}

/** masterDeeds are the game master's own. */
function masterDeeds(view, seated, people) {
  const d = k.deed,
    rolls = view.dice.filter((l) => l.event === 'roll');
  return [
    {
      name: 'signal',
      ...d.signal,
      verb: 'SignalTable',
      fields: [{ name: 'who', label: k.characters, kind: 'paths', required: true, hint: k.charactersHint }],
      args: (v) => [seated, v.who],
    },
    people.length
      ? {
          name: 'rename',
          ...d.rename,
          verb: 'RenameCharacter',
          fields: [
            { name: 'from', label: k.who, kind: 'choice', options: people },
            { name: 'to', label: k.slug, kind: 'line', required: true, hint: k.nameHint },
          ],
          args: (v) => [seated, v.from, v.to],
        }
      : null,
    rolls.length
      ? {
          name: 'override',
          ...d.override,
          verb: 'OverrideRoll',
          fields: [
            {
              name: 'roll',
              label: k.roll,
              kind: 'choice',
              options: rolls.toReversed().map((l) => [String(l.n), l.told]),
            },
            { name: 'total', label: k.total, kind: 'line', required: true },
            { name: 'reason', label: k.reason, kind: 'line' },
          ],
          args: (v) => [seated, v.roll, v.total, v.reason],
        }
      : null,
    {
      name: 'forbid',
      ...d.forbid,
      verb: 'ForbidOverrides',
      fields: [{ name: 'forbid', label: k.stand, kind: 'check', value: forbidden(view) }],
      args: (v) => [seated, v.forbid],
    },
  ];
}

/** forbidden says whether the dice of a table always stand. */
const forbidden = (view) => Boolean(view.dice.findLast((l) => l.event === 'setting')?.no_override);

/** diceDeeds are about what proves the dice. */
function diceDeeds(view, seated) {
  const d = k.deed,
    epoch = view.proof?.epochs?.at(-1);
  const unrolled = !epoch || epoch.state !== 'open' || epoch.rolls === 0;
  return [
    unrolled && !epoch?.client
      ? {
          name: 'seed',
          ...d.seed,
          verb: 'SeedDice',
          fields: [{ name: 'words', label: k.ownWords, kind: 'line', required: true }],
          args: (v) => [seated, v.words],
        }
      : null,
    epoch?.rolls ? { name: 'rotate', ...d.rotate, verb: 'RotateDice', fields: [], args: () => [seated] } : null,
    view.proof?.problem && (view.proof.bad || !view.proof.breaks?.length)
      ? {
          name: 'seal',
          ...d.seal,
          verb: 'SealDice',
          fields: [{ name: 'reason', label: k.reason, kind: 'line' }],
          args: (v) => [seated, v.reason],
        }
      : null,
  ];
}
