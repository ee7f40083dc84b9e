// What is read of a run before it is opened: while the pointer rests on it, or the
// focus. One run at a time, and only as long as nothing has happened in it since.

import { api, ask, on, query } from './core.js';

export const PIECE = 100; // entries whose texts come together

const DWELL = 60; // ms: who only passes over rows asks for nothing
const LASTS = 10_000; // ms

let ahead = null,
  resting;

/** askRun asks for what a run is opened with: what is known of it, and the columns to lay it out. */
export function askRun(id, at, signal) {
  const base = `/api/run/${encodeURIComponent(id)}`;
  return Promise.all([
    api(`${base}${query({ piece: PIECE, at })}`, { signal }),
    ask(`${base}/index${query({ from: 0, part: 'look' })}`, { signal }).then((answer) => answer.arrayBuffer()),
  ]);
}

/** wasRead is what was read ahead of a run; null where nothing was, or it is no longer true. */
export function wasRead(id) {
  const found = ahead;
  drop();
  return found?.id === id && performance.now() - found.began < LASTS ? found.answer : null;
}

function drop() {
  ahead = null;
}

function read(id) {
  if (ahead?.id === id && performance.now() - ahead.began < LASTS) return;
  const mine = { id, began: performance.now(), answer: askRun(id) };
  ahead = mine;
  mine.answer.catch(() => {
    if (ahead === mine) drop();
  });
}

/** readAheadOfRuns watches where the pointer and the focus rest. */
export function readAheadOfRuns() {
  on('run', (event) => {
    if (event.run === ahead?.id) drop();
  });
  for (const kind of ['marks', 'lost', 'disconnected', 'connected']) on(kind, drop);
  const rests = ({ target }) => {
    clearTimeout(resting);
    const id = target.closest?.('[data-run]')?.dataset.run;
    if (id) resting = setTimeout(read, DWELL, id);
  };
  for (const kind of ['pointerover', 'focusin']) document.addEventListener(kind, rests, { passive: true });
}
