// Forms for what a person can do: each is a list of fields, and makes of what
// was typed the arguments of a verb.

import { h, plain, replace, t, trouble } from './core.js';
import { draft, dropDraft, keepDraft } from './drafts.js';
import { start, watch } from './jobs.js';

/**
 * @typedef {object} Field
 * @property {string} name
 * @property {string} label
 * @property {'line'|'lines'|'choice'|'check'|'paths'|'number'} kind
 * @property {[string, string][]} [options]
 * @property {string} [hint]
 * @property {boolean} [required]
 * @property {any} [value]
 *
 * @typedef {object} Action
 * @property {string} name
 * @property {string} label
 * @property {string} [about]
 * @property {string} verb
 * @property {Field[]} fields
 * @property {(v: any) => any[]} args
 * @property {string} [go]        the words on its button
 * @property {string} [seat]      for which it is done, at a table
 * @property {boolean} [danger]
 */

let made = 0;

/** form is an action as a form. @param {Action} action */
export function form(action, { values = {}, begun, close } = {}) {
  const id = `form${++made}`;
  const controls = new Map(
    action.fields.map((f) => [f.name, control(f, `${id}-${f.name}`, values[f.name] ?? f.value)]),
  );
  for (const [name, typed] of Object.entries(draft(draftOf(action)) ?? {})) {
    if (controls.has(name) && !(name in values)) controls.get(name)[held(controls.get(name))] = typed;
  }
  const wrong = h('div');
  const send = h('button', { class: action.danger ? 'danger' : 'primary' }, action.go ?? action.label);
  const el = h(
    'form',
    {
      class: 'sheet action',
      'aria-labelledby': `${id}-title`,
      on: {
        input: () => keepDraft(draftOf(action), Object.fromEntries([...controls].map(([k, el]) => [k, el[held(el)]]))),
        submit: async (event) => {
          event.preventDefault();
          send.disabled = true;
          try {
            const job = await start(action, ...action.args(read(action, controls)));
            sent(job, draftOf(action));
            begun?.(job);
          } catch (err) {
            replace(wrong, trouble(err));
          } finally {
            send.disabled = false;
          }
        },
      },
    },
    h('h3', { id: `${id}-title` }, action.label),
    action.about ? h('p', { class: 'muted' }, action.about) : null,
    action.fields.map((f) => row(f, controls.get(f.name), `${id}-${f.name}`)),
    wrong,
    h(
      'div',
      { class: 'row' },
      send,
      close ? h('button', { type: 'button', class: 'quiet', on: { click: close } }, t.close) : null,
    ),
  );
  return el;
}

/** draftOf is the name of what is typed into an action's form on this page. */
const draftOf = (action) => `${location.pathname} ${action.seat ?? ''} ${action.name}`;

/** sent takes a draft away, and gives it back where nothing came of it: to be mended, not typed again. */
function sent(job, name) {
  const typed = draft(name);
  const over = new AbortController();
  const settle = (known) => {
    if (known.job !== job.job || !known.ended) return;
    over.abort();
    const failed = known.error && known.error.kind !== 'no' && !known.stopped;
    if (typed && failed && !draft(name)) keepDraft(name, typed);
  };
  dropDraft(name);
  watch(settle, over.signal);
  settle(job);
}

const held = (el) => (el.type === 'checkbox' ? 'checked' : 'value');

function control(f, id, value) {
  const common = { id, name: f.name, required: f.required || null, 'aria-describedby': f.hint ? `${id}-hint` : null };
  switch (f.kind) {
    case 'choice':
      return h(
        'select',
        common,
        f.options.map(([v, label]) => h('option', { value: v, selected: v === value }, plain(label))),
      );
    case 'check':
      return h('input', { ...common, type: 'checkbox', checked: Boolean(value) });
    case 'number':
      return h('input', { ...common, type: 'number', min: 1, value: value ?? '' });
    case 'lines':
      return h('textarea', { ...common, rows: 4, value: value ?? '' });
    case 'paths':
      return h('textarea', { ...common, rows: 3, spellcheck: 'false', value: (value ?? []).join('\n') });
    default:
      return h('input', { ...common, type: 'text', autocomplete: 'off', value: value ?? '' });
  }
}

function row(f, el, id) {
  const hint = f.hint ? h('span', { class: 'muted small', id: `${id}-hint` }, f.hint) : null;
  if (f.kind === 'check') return h('div', { class: 'field' }, h('label', { class: 'check' }, el, f.label), hint);
  return h('div', { class: 'field' }, h('label', { for: id }, f.label), el, hint);
}

function read(action, controls) {
  const out = {};
  for (const f of action.fields) {
    const el = controls.get(f.name);
    if (f.kind === 'check') out[f.name] = el.checked;
    else if (f.kind === 'number') out[f.name] = Number(el.value) || 0;
    else if (f.kind === 'paths')
      out[f.name] = el.value
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean);
    else out[f.name] = el.value;
  }
  return out;
}

/** said is what was typed as a message: null where nothing was. */
export const said = (text) => (text.trim() === '' ? null : text);

/**
 * actions are several forms behind buttons: one is open at a time. update gives
 * them anew; what is being typed stays, as long as that can still be done, and the
 * form into which something was typed is open when the page is drawn anew.
 * @param {Action[]} list
 */
export function actions(list, { label, begun } = {}) {
  const place = h('div');
  const row = h('div', { class: 'row', role: 'group', 'aria-label': label });
  const buttons = new Map();
  let open = '';
  const show = (name, values, { focus = true } = {}) => {
    open = name;
    for (const [key, b] of buttons) b.setAttribute('aria-expanded', String(key === open));
    const action = list.find((a) => a.name === open);
    if (!action) {
      replace(place);
      return;
    }
    const el = form(action, {
      values,
      begun: (job) => {
        show('');
        begun?.(job);
      },
      close: () => {
        dropDraft(draftOf(action));
        buttons.get(name)?.focus();
        show('');
      },
    });
    replace(place, el);
    if (focus) el.querySelector('input, textarea, select, button')?.focus();
  };
  const update = (now) => {
    list = now;
    for (const [name, b] of buttons)
      if (!list.some((a) => a.name === name)) {
        b.remove();
        buttons.delete(name);
      }
    for (const action of list) if (!buttons.has(action.name)) buttons.set(action.name, button(action));
    const wanted = list.map((a) => buttons.get(a.name));
    if (wanted.some((b, i) => row.children[i] !== b)) row.append(...wanted);
    if (open && !buttons.has(open)) show('');
  };
  const button = ({ name, label: text }) =>
    h(
      'button',
      { type: 'button', 'aria-expanded': 'false', on: { click: () => show(open === name ? '' : name) } },
      text,
    );
  update(list);
  const left = list.find((action) => draft(draftOf(action)));
  if (left) show(left.name, {}, { focus: false });
  return { el: h('div', { class: 'actions' }, row, place), show, update };
}
