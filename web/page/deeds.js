// What a person can do with a quest: the forms, and where an offer leads.

import { notice, t } from './core.js';
import { said } from './forms.js';
import { start } from './jobs.js';

// Of every verb the page is told the result, and offers the next step itself.
const ONCE = { Once: true };

/** @returns {import('./forms.js').Action[]} */
export function deedsOf(quest) {
  const cast = quest.cast.filter((c) => c.advisor).map((c) => [c.role, `${c.emoji} ${c.name}`]);
  const words = { name: 'message', label: t.quest.words, kind: 'lines', hint: t.quest.wordsHint };
  const work = { name: 'paths', label: t.quest.work, kind: 'paths', required: true, hint: t.quest.workHint };
  const accept = { name: 'accept', label: t.quest.accept, kind: 'check', hint: t.quest.acceptHint };
  const d = t.quest.deed;
  const deeds = {
    start: {
      ...d.start,
      verb: 'StartQuest',
      fields: [
        { name: 'message', label: t.quest.about, kind: 'lines', hint: t.quest.aboutHint },
        { name: 'mode', label: t.quest.mode, kind: 'choice', options: t.quest.modes },
        { name: 'council', label: t.quest.fromCouncil, kind: 'check' },
        ...(quest.none ? [] : [{ name: 'archive', label: t.quest.archiveOld, kind: 'check' }]),
      ],
      args: (v) => [
        { ...ONCE, Message: said(v.message), Mode: v.mode, Council: v.council, Archive: v.archive ?? false },
      ],
    },
    consult: {
      ...d.consult,
      verb: 'Consult',
      fields: [
        { name: 'who', label: t.quest.who, kind: 'choice', options: cast },
        words,
        { name: 'readiness', label: t.quest.readiness, kind: 'check', hint: t.quest.readinessHint },
      ],
      args: (v) => [{ ...ONCE, Who: v.who, Message: said(v.message), Readiness: v.readiness }],
    },
    council: { ...d.council, verb: 'Council', fields: [words], args: (v) => [{ ...ONCE, Message: said(v.message) }] },
    checkpoint: {
      ...d.checkpoint,
      verb: 'Checkpoint',
      fields: [
        { name: 'stage', label: t.quest.stage, kind: 'line', required: true },
        { name: 'expect', label: t.quest.expect, kind: 'lines', hint: t.quest.expectHint },
        work,
        accept,
      ],
      args: (v) => [{ ...ONCE, Stage: v.stage, Expect: v.expect, Paths: v.paths, AcceptContext: v.accept }],
    },
    confront: {
      ...d.confront,
      verb: 'Confront',
      fields: [work, accept],
      args: (v) => [{ ...ONCE, Paths: v.paths, AcceptContext: v.accept }],
    },
    gate: { ...d.gate, verb: 'Gate', fields: gateFields(quest), args: gateArgs },
    debrief: { ...d.debrief, verb: 'Debrief', fields: [words], args: (v) => [{ ...ONCE, Message: said(v.message) }] },
    log: {
      ...d.log,
      verb: 'LogProgress',
      fields: [{ name: 'text', label: t.quest.progressLine, kind: 'line', required: true }],
      args: (v) => [ONCE, v.text],
    },
    continue: {
      ...d.continue,
      verb: 'ContinueQuest',
      fields: [{ name: 'drop', label: t.quest.drop, kind: 'check', hint: t.quest.dropHint }],
      args: (v) => [{ ...ONCE, Drop: v.drop }, ''],
    },
    return: { ...d.return, verb: 'ReturnToQuest', fields: [], args: () => [ONCE] },
    archive: { ...d.archive, verb: 'ArchiveQuest', fields: [], args: () => [ONCE], danger: true },
    repair: { ...d.repair, verb: 'RepairQuest', fields: [], args: () => [ONCE] },
  };
  const names = quest.none
    ? ['start', 'consult', 'council', 'gate', ...(quest.open?.length ? ['continue'] : [])]
    : [
        'consult',
        'council',
        'checkpoint',
        'confront',
        'gate',
        'debrief',
        'log',
        'continue',
        'return',
        'archive',
        'start',
        ...(quest.faults?.length ? ['repair'] : []),
      ];
  return names.map((name) => ({ name, ...deeds[name] }));
}

function gateFields(quest) {
  const g = t.quest.gate;
  return [
    { name: 'criteria', label: g.criteria, kind: 'lines', hint: quest.none ? g.criteriaHintNone : g.criteriaHint },
    { name: 'paths', label: t.quest.work, kind: 'paths', hint: g.workHint },
    { name: 'diff', label: g.diff, kind: 'line', hint: g.diffHint },
    {
      name: 'judge',
      label: g.judge,
      kind: 'choice',
      options: [
        ['dragon', g.dragon],
        ['guardian', g.guardian],
      ],
    },
    { name: 'expect', label: t.quest.expect, kind: 'lines', hint: g.expectHint },
    { name: 'judges', label: g.judges, kind: 'number', value: 1 },
    {
      name: 'rule',
      label: g.rule,
      kind: 'choice',
      options: [
        ['all', g.all],
        ['majority', g.majority],
      ],
    },
  ];
}

function gateArgs(v) {
  return [
    {
      Criteria: v.criteria,
      Work: v.paths,
      Diff: v.diff,
      Judge: v.judge,
      Expect: v.judge === 'guardian' ? v.expect : '',
      Judges: v.judges || 1,
      Rule: v.rule,
    },
  ];
}

/**
 * @typedef {object} Here where an offer is followed
 * @property {any} forms
 * @property {(job: any) => void} begun
 * @property {any} quest
 * @property {string} [boundary] what the offer came after
 * @property {(offers: any[]) => void} choose
 */

/** run begins a verb at once. */
const run = (verb, { begun }, first = ONCE, ...more) =>
  start({ verb }, first, ...more).then(begun, (err) => notice(err.message));

const work = (o, here) =>
  here.quest.phase >= EXECUTION ? run('ReturnToQuest', here) : run('ContinueQuest', here, ONCE, o.label);

// Words of the quest's own (quest.PhaseExecution, quest.AfterCouncil).
const EXECUTION = 3;
const AFTER_COUNCIL = 'council';

/**
 * ways are what each action of an offer leads to: a form where something is to be
 * said first.
 * @type {Record<string, (o: any, here: Here) => void>}
 */
export const ways = {
  consult: (o, { forms }) => forms.show('consult', { who: o.who }),
  gandalf: (o, { forms }) => forms.show('consult', { who: 'gandalf' }),
  // Who has judged is no advisor, and talks about the verdict alone.
  discuss: (o, here) => run('Consult', here, { ...ONCE, Who: o.who }),
  another: (o, { forms }) => forms.show('consult'),
  readiness: (o, { forms }) => forms.show('consult', { who: 'gandalf', readiness: true }),
  evaluate: (o, { quest, choose }) => choose(quest.evaluations),
  checkpoint: (o, { forms }) => forms.show('checkpoint'),
  confront: (o, { forms }) => forms.show('confront'),
  council: (o, { forms }) => forms.show('council'),
  debrief: (o, { forms }) => forms.show('debrief'),
  start: (o, { forms, boundary }) => forms.show('start', { council: boundary === AFTER_COUNCIL }),
  continue: (o, here) => run('ContinueQuest', here, ONCE, ''),
  work,
  gaps: work,
  return: work,
  review: () => document.getElementById('criteria')?.focus(),
  celebrate: () => notice(t.quest.celebrate),
  done: () => notice(t.quest.later),
};

/** follow does what an offer says. */
export const follow = (o, here) => ways[o.action](o, here);
