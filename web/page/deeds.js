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

/** follow does what an offer says: with a form where something is to be said first. */
export function follow(o, forms, begun) {
  const ways = {
    consult: ['consult', { who: o.who }],
    gandalf: ['consult', { who: 'gandalf' }],
    discuss: ['consult', { who: o.who }],
    another: ['consult', {}],
    readiness: ['consult', { who: 'gandalf', readiness: true }],
    evaluate: ['checkpoint', {}],
    checkpoint: ['checkpoint', {}],
    confront: ['confront', {}],
    council: ['council', {}],
    debrief: ['debrief', {}],
    start: ['start', { council: /finding/i.test(o.label) }],
  };
  const known = ways[o.action];
  if (known && !(o.action === 'discuss' && !isAdvisor(o.who))) {
    forms.show(...known);
    return;
  }
  if (o.action === 'done' || o.action === 'celebrate') {
    notice(t.quest.later);
    return;
  }
  start('ContinueQuest', ONCE, o.label).then(begun, (err) => notice(err.message));
}

const isAdvisor = (who) => who !== 'guardian' && who !== 'dragon';
