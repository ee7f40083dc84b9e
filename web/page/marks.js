// What the person marked: stars, pins, and how far each run was read.

import { api, h, key, mark, on, readOnly, say, t } from './core.js';

let all = null;

/** marks are everything marked; asked for once, and again after a change. */
export async function marks(signal) {
  all ??= await api('/api/marks', { signal }).catch(() => null);
  return { stars: all?.stars ?? [], pins: all?.pins ?? [], seen: all?.seen ?? {} };
}

/** keepMarks follows what is marked in another tab, or by another process. */
export function keepMarks() {
  for (const kind of ['marks', 'lost', 'connected']) on(kind, () => refresh().catch(() => {}));
}

async function refresh() {
  const shown = [...document.querySelectorAll('[data-marks]')];
  if (!all && shown.length === 0) return;
  all = await api('/api/marks');
  for (const button of shown) button.setAttribute('aria-pressed', String(isMarked(button.dataset, false)));
}

/** isMarked says whether a button is pressed by what is known; otherwise by what its page said. */
function isMarked({ marks: kind, of, entry }, otherwise) {
  if (!all) return otherwise;
  if (kind === 'star') return all.stars.includes(of);
  return all.pins.some((pin) => pin.run === of && pin.entry === Number(entry));
}

async function change(body) {
  const answer = await api('/api/marks', { method: 'PUT', body });
  all = answer?.stars ? answer : null;
}

/** remember how far a run was read. */
export function remember(run, seen) {
  if (!readOnly) change({ run, seen }).catch(() => {});
}

/**
 * toggle is a button that is pressed or not: a star of a run, a pin of an entry.
 * @param {{icon: string, label: string, pressed: boolean, run: string, entry?: number, body: (on: boolean) => object, changed?: (on: boolean) => void}} given
 */
function toggle({ icon, label, pressed, run, entry, body, changed }) {
  const whose = { marks: icon, of: run, ...(entry === undefined ? {} : { entry: String(entry) }) };
  const button = h(
    'button',
    {
      type: 'button',
      class: `icon toggle-${icon}`,
      dataset: whose,
      'aria-pressed': String(isMarked(whose, pressed)),
      'aria-label': label,
      title: label,
      disabled: readOnly,
      on: {
        click: async (event) => {
          event.stopPropagation();
          const on = button.getAttribute('aria-pressed') !== 'true';
          button.setAttribute('aria-pressed', String(on));
          try {
            await change(body(on));
            changed?.(on);
          } catch (err) {
            button.setAttribute('aria-pressed', String(!on));
            say(err.message);
          }
        },
      },
    },
    mark(icon),
  );
  return button;
}

/** starButton stars a run. */
export function starButton(run, starred, changed) {
  return toggle({
    icon: 'star',
    label: t.runs.star,
    pressed: Boolean(starred),
    run,
    body: (star) => ({ run, star }),
    changed,
  });
}

/** pinButton pins an entry. */
export function pinButton(run, entry, pinned, changed) {
  return toggle({
    icon: 'pin',
    label: t.run.pin(entry),
    pressed: Boolean(pinned),
    run,
    entry,
    body: (pin) => ({ run, entry, pin }),
    changed,
  });
}

/** starKey and pinKey have a key press such a button, where somebody can mark. */
export const starKey = (button) => markKey('s', t.runs.starKey, button);
export const pinKey = (button) => markKey('p', t.run.pinKey, button);

function markKey(name, does, button) {
  if (!readOnly) key(name, does, () => button()?.click());
}
