// The beginning: the door, the pages, the frame around them.

import { readAheadOfRuns } from './ahead.js';
import * as bundles from './bundles.js';
import * as compare from './compare.js';
import * as core from './core.js';
import * as figures from './figures.js';
import { keepJobs } from './jobs.js';
import { keepMarks } from './marks.js';
import * as knowledge from './knowledge.js';
import { enter, enterBy, listen, on, whenLocked } from './net.js';
import * as now from './now.js';
import * as quest from './quest.js';
import { bindKeys, openHelp, openPalette } from './palette.js';
import * as run from './run.js';
import * as runs from './runs.js';
import * as search from './search.js';
import * as sql from './sql.js';
import * as table from './table.js';

const { h, mark, replace, t } = core;

// A page is added here.
const modules = [now, runs, run, compare, search, knowledge, quest, table, figures, sql, bundles];

function menu() {
  const items = core.pages
    .filter((p) => p.nav)
    .map((p) =>
      h(
        'li',
        null,
        h(
          'a',
          { href: p.nav.href ?? p.path, dataset: { section: '/' + p.path.split('/')[1] } },
          mark(p.nav.icon),
          h('span', null, p.nav.label),
        ),
      ),
    );
  replace(document.getElementById('menu'), h('ul', null, items));
}

const THEMES = ['auto', 'light', 'dark'];

function nextTheme(button) {
  const root = document.documentElement;
  root.dataset.theme = THEMES[(THEMES.indexOf(root.dataset.theme) + 1) % THEMES.length];
  localStorage.setItem('conclave-theme', root.dataset.theme);
  nameTheme(button);
  core.say(button.getAttribute('aria-label'));
}

function nameTheme(button) {
  const text = `${t.shell.theme}: ${t.shell.themes[document.documentElement.dataset.theme]}`;
  button.setAttribute('aria-label', text);
  button.title = text;
}

function tools() {
  const theme = h('button', { type: 'button', class: 'icon', on: { click: () => nextTheme(theme) } }, mark('theme'));
  nameTheme(theme);
  replace(
    document.getElementById('tools'),
    core.readOnly ? h('span', { class: 'badge' }, t.shell.readOnly) : null,
    h(
      'button',
      { type: 'button', class: 'find', on: { click: openPalette } },
      mark('search'),
      h('span', null, t.shell.palette),
      h('kbd', null, 'Ctrl K'),
    ),
    theme,
    h(
      'button',
      { type: 'button', class: 'icon', 'aria-label': t.shell.help, title: t.shell.help, on: { click: openHelp } },
      mark('help'),
    ),
  );
}

/** follow lets links of our own lead on without loading the shell again. */
function follow(event) {
  const a = event.target.closest?.('a[href]');
  if (
    !a ||
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
    return;
  const href = a.getAttribute('href');
  if (!href.startsWith('/') || a.hasAttribute('download') || a.target) return;
  event.preventDefault();
  core.go(href);
}

/** sighted brings what Tab reaches wholly into sight: browsers leave alone what is seen in part. */
function sighted() {
  let tabbed = false;
  document.addEventListener('keydown', (event) => (tabbed = event.key === 'Tab'), true);
  document.addEventListener('focusin', (event) => {
    if (tabbed) event.target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    tabbed = false;
  });
}

function locked() {
  const field = h('input', {
    type: 'text',
    id: 'code',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-describedby': 'code-wrong',
  });
  const wrong = h('p', { class: 'wrong', role: 'alert', id: 'code-wrong' });
  const form = h(
    'form',
    {
      class: 'door',
      on: {
        submit: async (event) => {
          event.preventDefault();
          const code = field.value.trim().replace(/^.*enter=/, '');
          try {
            await enterBy(code);
            location.reload();
          } catch {
            wrong.textContent = t.locked.wrong;
            field.setAttribute('aria-invalid', 'true');
            field.focus();
          }
        },
      },
    },
    core.heading(t.locked.title),
    h('p', null, t.locked.text),
    h('label', { for: 'code' }, t.locked.code),
    h('div', { class: 'row' }, field, h('button', { class: 'primary' }, t.locked.enter)),
    wrong,
  );
  core.titled(t.locked.title);
  replace(document.getElementById('main'), form).setAttribute('aria-busy', 'false');
}

function connection() {
  const bar = document.getElementById('connection');
  let timer = 0;
  on('disconnected', () => {
    timer ||= setTimeout(() => {
      bar.textContent = t.lost;
      bar.hidden = false;
      core.say(t.lost);
    }, 1500);
  });
  on('connected', () => {
    clearTimeout(timer);
    timer = 0;
    if (!bar.hidden) core.say(t.back);
    bar.hidden = true;
  });
  on('lost', () => core.show({ focus: false }));
}

async function begin() {
  for (const module of modules) module.register(core);
  menu();
  bindKeys();
  tools();
  core.keepTimes();
  sighted();
  document.addEventListener('keydown', core.onKey);
  document.addEventListener('click', follow);
  window.addEventListener('popstate', () => core.show());
  whenLocked(locked);
  if (!(await enter())) return locked();
  connection();
  keepJobs();
  readAheadOfRuns();
  keepMarks();
  listen();
  if (location.pathname === '/') history.replaceState(null, '', core.pages[0]?.path ?? '/');
  return core.show({ focus: false });
}

begin();
