// Bundles: a run in one file, from elsewhere. Dropped in, it is checked, and
// browsed as a run while the server lives; nothing of it comes into the workspace.

import { api, bytes, h, heading, notice, page, plain, query, readOnly, replace, t, titled, trouble } from './core.js';

const k = t.bundles;
const MOST = 512 * 1024 * 1024;

export function register() {
  page({ path: '/bundles', title: k.title, section: '/figures', render });
}

async function render(el, _, signal) {
  titled(k.title);
  const list = h('ul', { class: 'plainlist', 'aria-live': 'polite', 'aria-label': k.opened });
  const take = (files) => {
    for (const file of files) open(file, list, signal);
  };
  replace(
    el,
    h('p', null, h('a', { href: '/figures' }, `← ${t.figures.title}`)),
    heading(k.title),
    h('p', { class: 'lede' }, k.lede),
    readOnly ? h('p', { class: 'muted' }, k.readOnly) : dropPlace(take),
    list,
  );
}

function dropPlace(take) {
  const field = h('input', {
    type: 'file',
    id: 'bundle',
    multiple: true,
    accept: '.zip',
    'aria-describedby': 'bundle-hint',
    on: { change: () => take(field.files) },
  });
  const place = h(
    'div',
    {
      class: 'drop',
      on: {
        dragover: (event) => {
          event.preventDefault();
          place.classList.add('over');
        },
        dragleave: () => place.classList.remove('over'),
        drop: (event) => {
          event.preventDefault();
          place.classList.remove('over');
          take(event.dataTransfer.files);
        },
      },
    },
    h('p', null, h('label', { for: 'bundle' }, k.drop)),
    h('p', null, field),
    h('p', { class: 'muted small', id: 'bundle-hint' }, k.hint),
  );
  return place;
}

async function open(file, list, signal) {
  const row = h(
    'li',
    null,
    h(
      'div',
      { class: 'spread' },
      h('strong', { class: 'foreign' }, plain(file.name)),
      h('span', { class: 'muted small' }, bytes(file.size)),
    ),
    h('p', { class: 'muted' }, k.opening),
  );
  list.prepend(row);
  const say = (what) => row.lastChild.replaceWith(what);
  if (file.size > MOST) return say(trouble(new Error(k.tooLarge)));
  try {
    const { runs } = await api(`/api/bundles${query({ name: file.name })}`, { method: 'POST', body: file, signal });
    say(
      h(
        'p',
        { class: 'row' },
        runs.map((run) => h('a', { href: `/run/${encodeURIComponent(run)}` }, plain(run))),
      ),
    );
    notice(k.done(plain(file.name)));
  } catch (err) {
    if (!signal.aborted) say(trouble(err));
  }
}
