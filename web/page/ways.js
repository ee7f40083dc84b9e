// The way of a secret through a table: who knew it from when, by the seat that
// looks. A seat is shown what it knows; the game master everything.

import { api, filters, go, h, heading, plain, query, replace, s, t, titled, when } from './core.js';

const k = t.ways;
const LANE = 24,
  LEFT = 130,
  TOP = 22;

/** across is how many pixels the cycles have, so that letters keep their size. */
const across = () => Math.max(120, Math.min(560, document.documentElement.clientWidth - LEFT - 90));

export async function renderSecrets(el, { table }, signal) {
  const as = filters().as ?? '';
  titled(`${k.title} · ${table}`);
  const view = await api(`/api/table/${encodeURIComponent(table)}/secrets${query({ as: as || 'table' })}`, { signal });
  replace(
    el,
    h(
      'p',
      { class: 'row' },
      h('a', { href: '/knowledge' }, `← ${t.knowledge.title}`),
      h('a', { href: `/table/${encodeURIComponent(table)}` }, plain(table)),
    ),
    heading(k.of(plain(table))),
    h('p', { class: 'lede' }, k.lede),
    seatPicker(view.seats, as, (seat) => go(`${location.pathname}${query({ as: seat })}`)),
    as === ''
      ? h('p', { class: 'muted' }, k.choose)
      : view.secrets.length === 0
        ? h('p', { class: 'muted' }, k.none)
        : null,
    view.older ? h('p', { class: 'muted' }, k.older(view.older)) : null,
    h(
      'div',
      { class: 'ways' },
      view.secrets.map((way, i) => wayOf(way, view, i)),
    ),
  );
}

/** seatPicker chooses from where one looks. */
export function seatPicker(seats, at, pick) {
  return h(
    'div',
    { class: 'seats', role: 'group', 'aria-label': k.from },
    h('span', { class: 'label' }, k.from),
    seats.map((seat) =>
      h(
        'button',
        { type: 'button', 'aria-pressed': String(seat === at), on: { click: () => pick(seat) } },
        nameOf(seat),
      ),
    ),
  );
}

export const nameOf = (seat) =>
  Object.hasOwn(k.seats, seat)
    ? k.seats[seat]
    : plain(
        seat
          .split('-')
          .map((w) => w.slice(0, 1).toUpperCase() + w.slice(1))
          .join(' '),
      );

function wayOf(way, view, i) {
  return h(
    'article',
    { class: 'sheet', 'aria-labelledby': `way${i}` },
    h(
      'div',
      { class: 'spread' },
      h('h2', { id: `way${i}` }, k.kinds[way.kind]?.(nameOf(way.who))),
      h('span', { class: 'muted small row' }, k.cycle(way.cycle), when(way.time)),
    ),
    h('blockquote', { class: 'secret foreign' }, plain(way.text)),
    picture(way, view),
    h('details', null, h('summary', null, k.asTable), tableOf(way, view)),
  );
}

/** picture has a lane for each seat, and a bar from the cycle on in which it knew. */
function picture(way, { seats, cycles }) {
  const last = Math.max(cycles, way.cycle),
    wide = across(),
    x = (cycle) => LEFT + ((cycle - 1) / Math.max(1, last)) * wide;
  const high = TOP + seats.length * LANE + 4;
  const step = Math.max(1, Math.ceil(last / (wide / 45)));
  const ticks = Array.from({ length: last }, (_, i) => i + 1).filter((n) => (n - 1) % step === 0);
  return s(
    'svg',
    { viewBox: `0 0 ${LEFT + wide + 10} ${high}`, role: 'img', 'aria-label': summary(way, seats) },
    ticks.map((n) => [
      s('line', { class: 'lane', x1: x(n), x2: x(n), y1: TOP - 4, y2: high }),
      s('text', { x: x(n) + 3, y: 12 }, k.cycleShort(n)),
    ]),
    seats.map((seat, i) => laneOf(seat, TOP + i * LANE, way, x, last)),
  );
}

function laneOf(seat, y, way, x, last) {
  const known = way.known.find((one) => one.seat === seat);
  return s(
    'g',
    null,
    s('line', { class: 'lane', x1: LEFT, x2: x(last + 1), y1: y + LANE / 2, y2: y + LANE / 2 }),
    s('text', { x: LEFT - 10, y: y + LANE / 2 + 4, 'text-anchor': 'end' }, nameOf(seat)),
    known
      ? s(
          'rect',
          {
            class: `knows ${known.how}`,
            x: x(known.cycle),
            y: y + 5,
            width: Math.max(6, x(last + 1) - x(known.cycle)),
            height: LANE - 10,
            rx: 3,
          },
          s('title', null, sentence(seat, known)),
        )
      : null,
    known?.how === 'own' ? s('circle', { class: 'born', cx: x(known.cycle) + 5, cy: y + LANE / 2, r: 4 }) : null,
  );
}

const sentence = (seat, known) =>
  known ? k.knows(nameOf(seat), known.cycle, k.how[known.how] ?? known.how) : k.knowsNot(nameOf(seat));
const summary = (way, seats) =>
  seats
    .map((seat) =>
      sentence(
        seat,
        way.known.find((one) => one.seat === seat),
      ),
    )
    .join(' ');

function tableOf(way, { seats }) {
  return h(
    'table',
    null,
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        [k.seat, k.since, k.by].map((text) => h('th', { scope: 'col' }, text)),
      ),
    ),
    h(
      'tbody',
      null,
      seats.map((seat) => {
        const known = way.known.find((one) => one.seat === seat);
        return h(
          'tr',
          null,
          h('th', { scope: 'row' }, nameOf(seat)),
          h('td', null, known ? k.cycle(known.cycle) : k.never),
          h(
            'td',
            null,
            known ? [k.how[known.how], known.words ? h('q', { class: 'foreign' }, plain(known.words)) : null] : '',
          ),
        );
      }),
    ),
  );
}
