// One run: its head, and its views: conversation, timeline, figures, edits, pins.

import {
  api,
  compact,
  copyButton,
  costOf,
  download,
  filters,
  h,
  heading,
  loading,
  mark,
  notice,
  number,
  offer,
  oneLine,
  page,
  plain,
  query,
  replace,
  setFilters,
  span,
  t,
  titled,
  when,
} from './core.js';
import { marks, starButton, starKey } from './marks.js';
import { RunData } from './rundata.js';
import { runPath } from './runs.js';
import { Talk } from './talk.js';
import { drawEdits, drawFigures, drawLanes, drawPins } from './views.js';
import { agentName, face, projectName, roleOf, state } from './who.js';

const VIEWS = {
  talk: null,
  lanes: drawLanes,
  figures: drawFigures,
  edits: drawEdits,
  pins: drawPins,
};
const FORMATS = { html: 'html', csv: 'csv', md: 'md', jsonl: 'jsonl' };

/** register adds the page of one run. */
export function register() {
  page({ path: '/run/:id/:n?', title: t.run.title, section: '/runs', render });
}

async function render(el, { id, n }, signal) {
  replace(el, heading(t.run.title), loading());
  const at = /^\d{1,9}$/.test(n ?? '') ? Number(n) : await placed(id, signal);
  const view = Object.hasOwn(VIEWS, filters().view ?? '') ? filters().view : 'talk';
  const [data, marked] = await Promise.all([new RunData(id, signal).open(at), marks(signal)]);
  if (view !== 'talk' || filters().tool !== undefined) await data.all();
  if (signal.aborted) return;
  const { head } = data;
  const mine = (list) => (list ?? []).filter((pin) => pin.run === id);
  const pins = Array.isArray(head.pins) ? head.pins : mine(marked.pins);
  const seen = head.seen ?? marked.seen[id] ?? null;
  const title = oneLine(head.title, 200) || t.runs.untitled;
  titled(title);
  el.classList.add('run-page');
  const body = h('div', { class: `view view-${view}` });
  const top = runHead(data, title, marked);
  replace(el, top.el, viewMenu(id, view, data, pins), body);
  data.onState = (event) => top.update(event);
  if (view !== 'talk') {
    VIEWS[view](body, { data, head, pins, signal });
    return;
  }
  const talk = new Talk(data, { signal, pins: pins.map((pin) => pin.entry), seen, at, label: t.run.conversation });
  talk.bar.prepend(...lanePicker(data, talk));
  replace(body, h('h2', { class: 'unseen' }, t.run.conversation), talk.el);
  await talk.begin();
}

/** placed is the number of the entry that the address names by its place in a lane, as a hit does. */
async function placed(id, signal) {
  const { seq, by } = filters();
  if (seq === undefined) return undefined;
  try {
    const { n } = await api(`/api/run/${encodeURIComponent(id)}/number${query({ lane: by, seq })}`, { signal });
    history.replaceState(null, '', runPath(id, n));
    return n;
  } catch (err) {
    if (!signal.aborted) notice(err.message);
    return undefined;
  }
}

function runHead(data, title, marked) {
  const { head } = data;
  const live = h('span', { class: 'row' });
  const update = (event = {}) => {
    Object.assign(
      head,
      Object.fromEntries(
        ['state', 'entries', 'tokens', 'cost_usd', 'cost_at_least', 'last_at']
          .filter((k) => event[k] !== undefined)
          .map((k) => [k, event[k]]),
      ),
    );
    replace(
      live,
      state(head.state),
      h('span', { class: 'num' }, t.runs.entries(head.entries ?? data.total)),
      head.tokens
        ? h('span', { class: 'num', title: t.run.tokensExact(head.tokens) }, t.run.tokens(head.tokens, compact(head.tokens)))
        : null,
      head.tokens ? h('span', { class: 'num' }, costOf(head)) : null,
    );
  };
  update();
  const facts = h(
    'div',
    { class: 'run-facts' },
    live,
    head.project
      ? h('a', { href: `/runs${query({ project: head.project })}`, title: head.project }, projectName(head.project))
      : null,
    h('span', null, agentName(head.agent)),
    head.model ? h('span', null, oneLine(head.model, 60)) : null,
    roleOf(head.role) ? h('span', null, face(head.role), roleOf(head.role)) : null,
    head.began ? h('span', null, when(head.began, { relative: false })) : null,
    head.began && head.last_at
      ? h('span', { class: 'num' }, span((new Date(head.last_at) - new Date(head.began)) / 1000))
      : null,
    head.sealed ? h('span', { class: 'badge good' }, t.runs.sealed) : null,
    head.parent ? h('a', { href: runPath(head.parent) }, t.runs.forkOf) : null,
    (head.forks ?? []).slice(0, 5).map((fork, i) => h('a', { href: runPath(fork) }, t.run.fork(i + 1))),
  );
  const star = starButton(data.id, head.starred ?? marked.stars.includes(data.id));
  starKey(() => star);
  const back = h('a', { class: 'back noprint', href: '/runs' }, t.runs.title);
  const el = h(
    'header',
    { class: 'run-head' },
    h('div', { class: 'run-line' }, back, heading(title), star, acts(data)),
    h('div', { class: 'run-second' }, facts, resume(head)),
  );
  return { el, update };
}

/** resume is the command that goes on with a session, to copy. */
function resume(head) {
  if (!head.resume) return null;
  return h(
    'span',
    { class: 'resume noprint' },
    h('span', { class: 'muted' }, t.run.resume),
    h('code', { title: plain(head.resume) }, oneLine(head.resume, 300)),
    copyButton(head.resume, t.copy),
  );
}

function acts(data) {
  const { head } = data;
  const name = `run-${data.id.replace(/[^\w-]+/g, '-').slice(0, 60)}`;
  const save = (format) =>
    download(`${data.base}/export?format=${format}`, `${name}.${FORMATS[format]}`).then(
      () => notice(t.run.exported),
      (err) => notice(err.message),
    );
  const close = (menu) => {
    menu.open = false;
    menu.firstElementChild.focus();
  };
  const saveFrom = (event, format) => {
    close(event.target.closest('details'));
    return save(format);
  };
  // It lies over what comes next, so it is open only while one is in it.
  const leave = {
    focusout: ({ currentTarget, relatedTarget }) => {
      if (relatedTarget && !currentTarget.contains(relatedTarget)) currentTarget.open = false;
    },
    keydown: ({ currentTarget, key }) => {
      if (key === 'Escape' && currentTarget.open) close(currentTarget);
    },
  };
  for (const format of Object.keys(FORMATS)) offer(t.run.exportAs[format], () => save(format), data.signal);
  return h(
    'div',
    { class: 'row run-acts noprint' },
    h(
      'details',
      { class: 'menu', on: leave },
      h('summary', { class: 'button' }, mark('download'), t.run.export),
      h(
        'div',
        { class: 'menu-body' },
        Object.keys(FORMATS).map((format) =>
          h(
            'button',
            { type: 'button', class: 'quiet', on: { click: (e) => saveFrom(e, format) } },
            t.run.exportAs[format],
          ),
        ),
      ),
    ),
    head.knowledge
      ? h(
          'a',
          { class: 'button', href: `/knowledge/${encodeURIComponent(data.id)}` },
          mark('knowledge'),
          t.run.knowledge,
        )
      : null,
    h('a', { class: 'button', href: `/compare/${encodeURIComponent(data.id)}` }, mark('compare'), t.run.compareWith),
  );
}

function viewMenu(id, view, data, pins) {
  const counts = {
    lanes: data.head.lanes?.length > 1 ? data.head.lanes.length : null,
    edits: data.head.edits?.length || null,
    pins: pins.length || null,
  };
  const link = (name) =>
    h(
      'li',
      null,
      h(
        'a',
        {
          href: `${runPath(id)}${name === 'talk' ? '' : `?view=${name}`}`,
          'aria-current': name === view ? 'page' : null,
        },
        t.run.views[name],
        counts[name] ? h('span', { class: 'num muted' }, ` ${number(counts[name])}`) : null,
      ),
    );
  return h(
    'nav',
    { class: 'views noprint', 'aria-label': t.run.viewsLabel },
    h('ul', null, Object.keys(VIEWS).map(link)),
  );
}

/** lanePicker shows one agent's entries alone. */
function lanePicker(data, talk) {
  const { lane, tool } = filters();
  const parts = [];
  if (data.lanes.length > 1) {
    const pick = () => {
      setFilters({ lane: select.value });
      talk.filter();
    };
    const select = h(
      'select',
      { id: 'lane', on: { change: pick } },
      h('option', { value: '' }, t.run.allLanes),
      data.lanes.map((name) =>
        h(
          'option',
          { value: name, selected: name === lane },
          oneLine(name.replace(/^subagent:/, ''), 80) || t.run.mainLane,
        ),
      ),
    );
    parts.push(h('label', { for: 'lane', class: 'muted small' }, t.run.lane), select);
  }
  if (tool !== undefined)
    parts.push(
      h('span', { class: 'badge accent' }, t.run.onlyTool(oneLine(tool, 60))),
      h('a', { href: runPath(data.id) }, t.run.everything),
    );
  return parts;
}
