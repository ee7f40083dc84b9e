// How figures and times read: in the reader's zone, in the reader's own order.

import { h } from './dom.js';
import { t } from './texts.js';

const whole = new Intl.NumberFormat('en-GB');
const short = new Intl.NumberFormat('en-GB', { notation: 'compact', maximumFractionDigits: 1 });

/** number is 12,345. */
export const number = (n) => (n == null ? t.unknown : whole.format(n));

/** compact is 12.3k. */
export const compact = (n) => (n == null ? t.unknown : short.format(n).toLowerCase());

/** counted is "1 entry" or "7 entries". */
export const counted = (n, one, many) => `${number(n)} ${n === 1 ? one : many}`;

/** money is dollars, or at least so many, which are not rounded up; without a price it says so. */
export function money(usd, atLeast = false) {
  if (usd === null || usd === undefined) return t.noPrice;
  if (usd > 0 && usd < 0.01) return atLeast ? '> $0' : '<$0.01';
  const digits = usd > 0 && usd < 100 ? 2 : 0;
  if (!atLeast) return `$${usd.toFixed(digits)}`;
  return `≥ $${(Math.floor(usd * 10 ** digits + 1e-6) / 10 ** digits).toFixed(digits)}`;
}

/** costOf is what a run, or something that runs now, has cost. */
export const costOf = (of) => money(of.cost_usd, of.cost_at_least);

/** usedCost is the cost of what usage counts: none has a price, some have not, or all have one. */
export function usedCost(g) {
  if (g.responses === 0) return '–';
  const unpriced = g.unpriced_responses ?? 0;
  return unpriced >= g.responses ? t.noPrice : money(g.cost_usd, unpriced > 0);
}

/** spent is what lines of a quest cost together: no tokens cost nothing, tokens without a price have none. */
export function spent(lines) {
  const usd = lines.reduce((sum, c) => sum + c.usd, 0);
  const unpriced = lines.some((c) => c.usd === 0 && c.input_tokens + c.output_tokens > 0);
  if (usd > 0) return money(usd, unpriced);
  return unpriced ? t.noPrice : '–';
}

/** span is a length of time: 45 s, 12 min, 3 h 20 min, 2 d 4 h. */
export function span(seconds) {
  if (seconds == null) return t.unknown;
  if (seconds < 1) return seconds <= 0 ? '0 s' : '<1 s';
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return hours % 24 ? `${Math.floor(hours / 24)} d ${hours % 24} h` : `${Math.floor(hours / 24)} d`;
}

/** bytes is 12.3 MB. */
export function bytes(n) {
  for (const [size, unit] of [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ])
    if (n >= size) return `${(n / size).toFixed(1)} ${unit}`;
  return counted(n, 'byte', 'bytes');
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const exact = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const dayOf = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' });
const yearOf = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' });

/** clockTime is the time of day with seconds, in the reader's zone. */
export const clockTime = (at) => exact.format(new Date(at));

/** fullTime is a time in words, with its zone. */
export const fullTime = (at) => full.format(new Date(at));

/** dayTime is a day and a time of day: 14 Nov, 16:02. */
export function dayTime(at) {
  const date = new Date(at);
  const day = date.getFullYear() === new Date().getFullYear() ? dayOf : yearOf;
  return `${day.format(date)}, ${clock.format(date)}`;
}

/** axisTime writes times of an axis: without the day where all are of one. */
export function axisTime(from, to) {
  const oneDay = new Date(from).toDateString() === new Date(to).toDateString();
  if (oneDay) return to - from < 3600e3 ? clockTime : (at) => clock.format(new Date(at));
  return to - from > 4 * 86400e3 ? (at) => dayOf.format(new Date(at)) : dayTime;
}

/** ago says how long ago: for a day by its distance, later by its date, and so what is still to come. */
export function ago(at, now = Date.now()) {
  const seconds = (now - new Date(at).getTime()) / 1000;
  if (Math.abs(seconds) < 10) return t.justNow; // clocks differ a little
  if (seconds > 0 && seconds < 86400) return t.ago(span(seconds));
  return dayTime(at);
}

/**
 * when is a time element that keeps itself true: how long ago, with the whole
 * time in the reader's zone as its title.
 */
export function when(at, { relative = true } = {}) {
  if (!at || Number.isNaN(new Date(at).getTime())) return h('span', { class: 'muted' }, t.unknown);
  return h(
    'time',
    { datetime: at, title: fullTime(at), class: relative ? 'ago' : null },
    relative ? ago(at) : dayTime(at),
  );
}

/** keepTimes lets every relative time on the page go on. */
export function keepTimes() {
  setInterval(() => {
    for (const el of document.querySelectorAll('time.ago')) {
      const text = ago(el.dateTime);
      if (el.textContent !== text) el.textContent = text;
    }
  }, 20000);
}
