// What a person does here: a verb runs as a job of the server, tells what
// happens, and asks. The store below has everything of every job, from the
// server and from the stream, so that whoever comes late or comes back sees it
// all; a view shows one job and asks its questions.

import {
  api,
  append,
  compact,
  copyButton,
  h,
  mark,
  notice,
  on,
  plain,
  readOnly,
  replace,
  say,
  t,
  when,
} from './core.js';
import { draft, dropDraft, keepDraft } from './drafts.js';
import { markdown } from './markdown.js';
import { withCitations } from './outcome.js';

/** @type {Map<string, Job>} */
const jobs = new Map();
const watchers = new Set();
let reading = null,
  again = false;

/**
 * @typedef {object} Job
 * @property {string} job
 * @property {string} verb
 * @property {any[]} args
 * @property {string} [seat] at a table: whoever began it looked from there
 * @property {number} told how much the server has told of it
 * @property {{type: string, data: any}[]} events
 * @property {{number: number, question: any}[]} questions
 */

/** keepJobs follows all jobs while the tab lives. */
export function keepJobs() {
  on('began', () => readJobs());
  on('lost', () => readJobs());
  on('connected', () => readJobs());
  on('job', (heard) => change(heard, (known) => known.events.push(heard.event)));
  on('question', (heard) =>
    change(heard, (known) => {
      known.questions.push({ number: heard.number, question: heard.question });
      say(t.jobs.asked(plain(heard.question.text)));
    }),
  );
  on('withdraw', (heard) =>
    change(heard, (known) => {
      known.questions = known.questions.filter((q) => q.number !== heard.number);
    }),
  );
  on('done', (heard) =>
    change(heard, (known) => {
      const { results, error, stopped } = heard;
      Object.assign(known, { results: results ?? [], error, stopped, ended: new Date().toISOString(), questions: [] });
      say(error?.text ? t.jobs.failed(plain(error.text)) : t.jobs.over(named(known)));
    }),
  );
}

/** change applies what was heard of a job, once: the server counts what it tells of each. */
function change({ job, told }, apply) {
  const known = jobs.get(job);
  if (!known || told > known.told + 1) {
    readJobs();
    return;
  }
  if (told <= known.told) return;
  known.told = told;
  apply(known);
  tell(known);
}

/**
 * readJobs brings what the server has into the store. While that is being read it
 * is read once more: what was heard since may not be in the answer.
 */
export function readJobs() {
  again = true;
  reading ??= read().finally(() => {
    reading = null;
  });
  return reading;
}

async function read() {
  while (again) {
    again = false;
    const { jobs: list } = await api('/api/jobs');
    for (const told of list) {
      const known = jobs.get(told.job);
      if (known && known.told >= told.told) continue;
      jobs.set(told.job, told);
      tell(told);
    }
  }
}

function tell(job) {
  for (const watcher of [...watchers]) watcher(job);
}

/** watch calls fn for every change of a job until signal ends. */
export function watch(fn, signal) {
  watchers.add(fn);
  signal?.addEventListener('abort', () => watchers.delete(fn));
}

/** allJobs are those that are known, the newest first. */
export const allJobs = () => [...jobs.values()].sort((a, b) => (a.began < b.began ? 1 : -1));

/**
 * start begins a verb and returns its job. At a table it is told from which seat.
 * @param {{verb: string, seat?: string}} what
 */
export async function start({ verb, seat }, ...args) {
  const { job } = await api('/api/jobs', { body: { verb, args, seat } });
  await readJobs();
  return jobs.get(job);
}

/** named is what a job is called: its verb in words, with whom. */
export function named(job) {
  const first = job.args?.[0] ?? {};
  const what = t.jobs.verbs[job.verb] ?? job.verb;
  const whom = first.Who ?? first.Character ?? first.Stage ?? '';
  return whom ? `${what}: ${plain(whom)}` : what;
}

/**
 * panel shows the jobs that belong to a page: those that run, and the last that
 * ended. onDone hears of an end.
 * @param {{belongs: (job: Job) => boolean, ended?: (job: Job, host: HTMLElement) => void, signal: AbortSignal}} given
 */
export function panel({ belongs, ended, signal }) {
  const el = h('section', { class: 'jobs', 'aria-label': t.jobs.title });
  const views = new Map();
  const show = (job) => {
    if (!belongs(job)) return;
    let view = views.get(job.job);
    if (!view) {
      view = new JobView(job, { ended, signal });
      views.set(job.job, view);
      el.prepend(view.el);
    }
    view.update(job);
    trim(el, views);
  };
  for (const job of allJobs().filter(belongs).slice(0, 3).reverse()) show(job);
  watch(show, signal);
  readJobs().catch((err) => notice(err.message));
  return el;
}

/** trim leaves of the ended jobs the newest. */
function trim(el, views) {
  const over = [...views.values()]
    .filter((view) => view.job.ended)
    .sort((a, b) => (a.job.began < b.job.began ? 1 : -1));
  for (const view of over.slice(2)) {
    view.el.remove();
    views.delete(view.job.job);
  }
}

/** JobView shows one job. */
class JobView {
  constructor(job, { ended, signal }) {
    Object.assign(this, { job, onEnded: ended, signal, shown: 0, speeches: new Map(), asked: new Map(), offers: [] });
    this.log = h('div', { class: 'job-log', role: 'log', 'aria-live': 'off', 'aria-label': t.jobs.log });
    this.questions = h('div', { class: 'job-questions' });
    this.head = h('div', { class: 'job-head spread' });
    this.foot = h('div', { class: 'job-foot' });
    this.el = h(
      'article',
      { class: 'job sheet', dataset: { job: job.job, verb: job.verb } },
      this.head,
      this.log,
      this.questions,
      this.foot,
    );
  }

  /** update shows what has come since. */
  update(job) {
    if (job !== this.job) this.restart();
    this.job = job;
    if (this.waits) return;
    this.waits = true;
    requestAnimationFrame(() => {
      this.waits = false;
      this.draw();
    });
  }

  /** restart shows a job anew: what the server keeps of it is put together differently. */
  restart() {
    this.shown = 0;
    this.speeches.clear();
    replace(this.log);
    replace(this.foot);
    this.done = false;
  }

  draw() {
    const { job } = this;
    for (; this.shown < job.events.length; this.shown++) this.take(job.events[this.shown]);
    this.drawHead();
    this.drawQuestions();
    if (job.ended && !this.done) {
      this.done = true;
      this.close();
    }
  }

  drawHead() {
    const { job } = this;
    const state = job.ended ? 'over' : job.questions.length ? 'waiting' : 'working';
    if (this.state === state + job.stopped) return;
    this.state = state + job.stopped;
    replace(
      this.head,
      h('h2', null, named(job)),
      h(
        'span',
        { class: 'row' },
        h(
          'span',
          { class: `state ${state === 'over' ? 'idle' : state}` },
          job.ended && job.stopped ? t.jobs.stopped : t.jobs.states[state],
        ),
        when(job.began),
        job.ended || readOnly
          ? null
          : h(
              'button',
              {
                type: 'button',
                class: 'danger',
                disabled: Boolean(this.stopping),
                on: { click: (event) => this.stop(event.currentTarget) },
              },
              mark('stop', 14),
              t.jobs.stop,
            ),
      ),
    );
  }

  async stop(button) {
    button.disabled = this.stopping = true;
    try {
      await api(`/api/jobs/${this.job.job}/stop`, { method: 'POST', body: {} });
    } catch (err) {
      notice(err.message);
    }
  }

  /** take shows one event. */
  take({ type, data }) {
    if (type === 'Speech') this.speak(data);
    else if (type === 'Progress') this.progress(data);
    else if (type === 'Answer') append(this.log, answered(data.text));
    else if (type === 'ClearScreen') replace(this.log, h('p', { class: 'muted' }, t.jobs.cleared));
    else if (type === 'Offers') this.offers = data.list ?? [];
    else if (type === 'Outcome') this.settled(data);
    else append(this.log, telling(type, data));
    if (type !== 'Progress') this.bar?.remove();
  }

  settled(data) {
    this.offers = data.offers ?? [];
    append(this.log, brief(data));
  }

  /** speak puts words into the speech of who says them: as they come, then whole. */
  speak({ emoji, name, part, text }) {
    let speech = this.speeches.get(name);
    if (!speech) {
      const words = h('div', { class: 'words foreign' });
      speech = { words, blocks: '', open: '' };
      this.speeches.set(name, speech);
      append(
        this.log,
        h(
          'div',
          { class: 'speech' },
          h('span', { class: 'face', 'aria-hidden': 'true' }, plain(emoji || '•')),
          h('div', { class: 'grow' }, h('strong', { class: 'speaker' }, plain(name)), words),
        ),
      );
    }
    if (part === 'whole') {
      replace(speech.words, withCitations(markdown(text, { heading: 3 })));
      speech.words.className = 'words md';
      this.speeches.delete(name);
      return;
    }
    if (part === 'paused') Object.assign(speech, { blocks: speech.blocks + text + '\n\n', open: '' });
    else speech.open += text;
    speech.words.textContent = plain((speech.blocks + speech.open).trim());
  }

  progress({ what, done, total }) {
    this.bar ??= h('p', { class: 'muted small' });
    replace(
      this.bar,
      h('progress', { max: total || 1, value: done, 'aria-label': plain(what || t.jobs.working) }),
      ' ',
      plain(what || t.jobs.working),
      ` ${compact(done)} / ${compact(total)}`,
    );
    this.log.append(this.bar);
  }

  drawQuestions() {
    const open = new Set(this.job.questions.map((q) => q.number));
    for (const [number, form] of this.asked) {
      if (open.has(number)) continue;
      form.remove();
      this.asked.delete(number);
    }
    for (const q of this.job.questions) {
      if (this.asked.has(q.number)) continue;
      const form = readOnly
        ? h('p', { class: 'muted' }, t.jobs.waitsElsewhere)
        : questionForm(this.job, q, this.offers);
      this.asked.set(q.number, form);
      this.questions.append(form);
      if (
        !document.activeElement ||
        document.activeElement === document.body ||
        this.el.contains(document.activeElement)
      )
        form.querySelector('textarea, input, button')?.focus({ preventScroll: true });
    }
  }

  close() {
    const { error } = this.job;
    this.bar?.remove();
    if (error?.text)
      this.foot.append(
        this.job.stopped ? way(error.text.replace(/^context canceled\n?/, ''), 'stopped') : way(error.text, error.kind),
      );
    if (error && !readOnly && error.kind !== 'no' && !this.job.stopped) {
      this.foot.append(
        h(
          'button',
          {
            type: 'button',
            on: { click: () => start(this.job, ...this.job.args).catch((err) => notice(err.message)) },
          },
          t.again,
        ),
      );
    }
    this.onEnded?.(this.job, this.foot);
  }
}

/** answered is what the person said here. */
function answered(text) {
  return h(
    'div',
    { class: 'speech mine' },
    h('span', { class: 'face', 'aria-hidden': 'true' }, '🙂'),
    h(
      'div',
      { class: 'grow' },
      h('strong', { class: 'speaker' }, t.jobs.you),
      h(
        'div',
        { class: 'words foreign' },
        text.trim() === '' ? h('span', { class: 'muted' }, t.jobs.nothingSaid) : plain(text),
      ),
    ),
  );
}

/** telling is an event of the app itself, as lines. */
function telling(type, data) {
  const text = data.text ?? '';
  if (type === 'Warning') return h('p', { class: 'tell warn' }, plain(text));
  if (type === 'Passage') return passage(data);
  if (type === 'Standing') return standing(data);
  if (type === 'Cast')
    return h('p', { class: 'tell' }, data.faces.map((f) => `${plain(f.emoji)} ${plain(f.name)}`).join(' · '));
  if (!text) return null;
  return h('p', { class: `tell foreign ${type === 'Aside' ? 'muted small' : ''}` }, plain(text).trim());
}

function standing({ title, phase, log, conversations }) {
  return h(
    'div',
    { class: 'tell' },
    h('strong', null, plain(title)),
    ` · ${plain(phase)}`,
    [...(log ?? []), ...(conversations ?? [])].map((line) => h('p', { class: 'small muted foreign' }, plain(line))),
  );
}

function passage({ kind, text }) {
  if (kind === 'scene') {
    const [title, ...place] = text.split('\n');
    return h(
      'div',
      { class: 'scene' },
      h('h3', null, plain(title)),
      place.length ? h('p', { class: 'muted' }, plain(place.join(' '))) : null,
    );
  }
  if (['narrative', 'recap', 'desk', 'digest'].includes(kind))
    return h('div', { class: 'passage md' }, markdown(text, { heading: 3 }));
  return h('p', { class: 'tell foreign muted small' }, plain(text).trim());
}

/** brief is an outcome in the midst of a job; the whole of it stands at its end. */
function brief(data) {
  const text = data.ended_early ? `${t.outcome.early} ${data.ended_early}` : (data.outcome ?? '');
  return [
    text ? h('div', { class: 'outcome md' }, markdown(text, { heading: 3 })) : null,
    (data.notes ?? []).map((note) => h('p', { class: 'tell muted small' }, plain(note))),
  ];
}

// What is no failure: a no is an answer, and who stops something knows why.
const TITLES = { no: t.jobs.no, stopped: t.jobs.stoppedHere };

/** way is an error with its way out: commands that it names can be copied. */
export function way(text, kind) {
  const lines = plain(text).split('\n');
  const tries = lines.map((line) => /(?:^|\b)(?:try|say):\s*(conclave .+)$/.exec(line)?.[1]).filter(Boolean);
  const inText = tries.length ? [] : [...plain(text).matchAll(/`(conclave [^`]+)`/g)].map((m) => m[1]);
  return h(
    'div',
    { class: TITLES[kind] ? 'said-no' : 'trouble', role: TITLES[kind] ? null : 'alert' },
    h('strong', null, TITLES[kind] ?? t.failed),
    h('p', null, lines.filter((line) => !/^\s*try:/.test(line)).join('\n')),
    [...new Set([...tries, ...inText])].map((line) =>
      h('p', { class: 'row' }, h('code', null, line), copyButton(line, t.jobs.copyLine)),
    ),
  );
}

// Questions.

const YES_NO = 'yesno',
  IN_LINE = 'inline',
  ENTER = 'enter';
let forms = 0;

/** questionForm asks what a job asks. */
function questionForm(job, { number, question: q }, offers) {
  const id = `q${++forms}`;
  const reply = (body) => answer(job, number, body, form);
  const pick = (text, label, hint) =>
    h(
      'button',
      { type: 'button', on: { click: () => reply({ text }) } },
      plain(label ?? text),
      hint ? h('span', { class: 'muted small' }, plain(hint)) : null,
    );
  const form = h('form', {
    class: 'question',
    'aria-labelledby': `${id}-text`,
    on: {
      submit: (event) => {
        event.preventDefault();
        reply({ text: field?.value ?? '' });
      },
    },
  });
  const field = q.way === YES_NO || q.way === ENTER ? null : answerField(job, number, q, id, form);
  const choices = q.options?.length
    ? q.options.map((o) => pick(o.label, o.label, o.hint))
    : q.way === IN_LINE && offers.length
      ? offers.map((o) => pick(o.label, o.label, o.reason))
      : [];
  append(form, [
    q.title ? h('p', { class: 'label' }, plain(q.title)) : null,
    q.lead ? h('div', { class: 'md' }, markdown(q.lead, { heading: 3 })) : null,
    h('div', { class: 'asked md', id: `${id}-text` }, markdown(q.text || t.jobs.goOn, { heading: 3 })),
    choices.length ? h('div', { class: 'choices', role: 'group', 'aria-label': t.jobs.choices }, choices) : null,
    field ? h('div', { class: 'field' }, h('label', { for: id }, t.jobs.answer), field, hintFor(q, id)) : null,
    buttons(q, pick, reply),
  ]);
  return form;
}

const draftOf = (job, number) => `${job.job}-${number}`;

function answerField(job, number, q, id, form) {
  const key = draftOf(job, number);
  const lines = q.way !== IN_LINE;
  const field = h(lines && !q.secret ? 'textarea' : 'input', {
    id,
    'aria-describedby': `${id}-text ${id}-hint`,
    autocomplete: 'off',
    rows: lines ? (q.lines ? 5 : 2) : null,
    type: lines && !q.secret ? null : q.secret ? 'password' : 'text',
    on: {
      input: () => {
        if (!q.secret) keepDraft(key, field.value);
      },
      keydown: (event) => {
        if (
          event.key === 'Enter' &&
          (event.ctrlKey || event.metaKey || (!q.lines && !event.shiftKey)) &&
          !event.isComposing
        ) {
          event.preventDefault();
          form.requestSubmit();
        }
      },
    },
  });
  field.value = draft(key) ?? '';
  return field;
}

function hintFor(q, id) {
  const parts = [];
  if (q.hint) parts.push(plain(q.hint));
  if (q.default && q.default !== '/end') parts.push(t.jobs.emptyMeans(plain(q.default)));
  if (q.default === '/end') parts.push(t.jobs.emptyEnds);
  parts.push(q.way === IN_LINE || !q.lines ? t.jobs.enterSends : t.jobs.ctrlEnterSends);
  return h('span', { class: 'muted small', id: `${id}-hint` }, parts.join(' '));
}

function buttons(q, pick, reply) {
  if (q.way === YES_NO) return h('div', { class: 'row' }, pick('y', t.jobs.yes), pick('n', t.jobs.no_));
  if (q.way === ENTER) return h('div', { class: 'row' }, h('button', { class: 'primary' }, t.jobs.goOn));
  return h(
    'div',
    { class: 'row' },
    h('button', { class: 'primary' }, t.jobs.send),
    h('button', { type: 'button', class: 'quiet', on: { click: () => reply({ none: true }) } }, t.jobs.none),
  );
}

async function answer(job, number, body, form) {
  for (const control of form.elements) control.disabled = true;
  try {
    await api(`/api/jobs/${job.job}/answer`, { body: { number, ...body } });
    dropDraft(draftOf(job, number));
  } catch (err) {
    for (const control of form.elements) control.disabled = false;
    notice(err.message);
  }
}
