// SQL over everything recorded: one SELECT, its answer as a table or a plot, the
// schema beside it, and queries that are kept.

import {
  api,
  counted,
  filters,
  h,
  heading,
  key,
  notice,
  number,
  page,
  plain,
  readOnly,
  replace,
  setFilters,
  t,
  titled,
  trouble,
} from './core.js';
import { saveCSV } from './figures.js';
import { bars, lines } from './plot.js';

const k = t.sql;
const FIRST = 'SELECT entry_type, count(*) AS n FROM transcript GROUP BY 1 ORDER BY 2 DESC';

export function register() {
  page({ path: '/sql', title: k.title, section: '/figures', render });
}

async function render(el, _, signal) {
  titled(k.title);
  const shown = h('div', { 'aria-live': 'polite' }),
    saved = h('div'),
    schema = h('div', { class: 'schema' }, h('p', { class: 'muted' }, t.loading));
  const field = h('textarea', {
    id: 'query',
    class: 'sql',
    spellcheck: 'false',
    autocomplete: 'off',
    value: filters().q ?? FIRST,
    'aria-describedby': 'query-hint',
    on: {
      keydown: (event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          form.requestSubmit();
        }
      },
    },
  });
  const run = h('button', { class: 'primary' }, k.run);
  const form = h(
    'form',
    {
      on: {
        submit: async (event) => {
          event.preventDefault();
          run.disabled = true;
          setFilters({ q: field.value });
          try {
            const answer = await api('/api/sql', { body: { query: field.value }, signal });
            replace(shown, answerOf(answer));
          } catch (err) {
            if (!signal.aborted) replace(shown, trouble(err));
          } finally {
            run.disabled = false;
          }
        },
      },
    },
    h(
      'div',
      { class: 'field' },
      h('label', { for: 'query' }, k.query),
      field,
      h('span', { class: 'muted small', id: 'query-hint' }, k.hint),
    ),
    h('div', { class: 'row' }, run, readOnly ? null : keepForm(field, saved)),
  );
  const use = (text) => {
    field.value = text;
    setFilters({ q: text });
    field.focus();
  };
  replace(
    el,
    h('p', null, h('a', { href: '/figures' }, `← ${t.figures.title}`)),
    heading(k.title),
    h('p', { class: 'lede' }, k.lede),
    h('div', { class: 'columns' }, h('div', null, form, shown), h('div', null, saved, schema)),
  );
  key('/', k.query, () => field.focus());
  drawSaved(saved, use, signal);
  api('/api/sql/schema', { signal }).then(
    (found) => replace(schema, schemaOf(found, use)),
    (err) => signal.aborted || replace(schema, trouble(err)),
  );
  if (filters().q) form.requestSubmit();
}

// What is kept.

function keepForm(field, saved) {
  const name = h('input', {
    type: 'text',
    id: 'keep-name',
    'aria-label': k.name,
    placeholder: k.name,
    autocomplete: 'off',
  });
  return [
    name,
    h(
      'button',
      {
        type: 'button',
        on: {
          click: async () => {
            if (!name.value.trim()) return name.focus();
            try {
              await api('/api/saved', { method: 'PUT', body: { name: name.value.trim(), query: field.value } });
              name.value = '';
              saved.dispatchEvent(new CustomEvent('again'));
              notice(k.kept);
            } catch (err) {
              notice(err.message);
            }
          },
        },
      },
      k.keep,
    ),
  ];
}

async function drawSaved(el, use, signal) {
  const draw = async () => {
    const list = await api('/api/saved', { signal }).catch(() => []);
    replace(
      el,
      h('h2', null, k.saved),
      !list?.length
        ? h('p', { class: 'muted' }, k.noSaved)
        : h(
            'ul',
            { class: 'plainlist' },
            list.map((q) =>
              h(
                'li',
                { class: 'spread' },
                h(
                  'button',
                  { type: 'button', class: 'quiet', title: plain(q.query), on: { click: () => use(q.query) } },
                  plain(q.name),
                ),
                readOnly
                  ? null
                  : h(
                      'button',
                      {
                        type: 'button',
                        class: 'quiet small',
                        'aria-label': k.forgetOne(plain(q.name)),
                        on: {
                          click: async () => {
                            await api('/api/saved', { method: 'PUT', body: { name: q.name, query: '' } }).catch((err) =>
                              notice(err.message),
                            );
                            draw();
                          },
                        },
                      },
                      k.forget,
                    ),
              ),
            ),
          ),
    );
  };
  el.addEventListener('again', draw);
  await draw();
}

function schemaOf({ tables, hints }, use) {
  return [
    h('h2', null, k.examples),
    h(
      'ul',
      { class: 'plainlist' },
      Object.entries(hints?.common_queries ?? {}).map(([name, text]) =>
        h(
          'li',
          null,
          h(
            'button',
            { type: 'button', class: 'quiet', title: plain(text), on: { click: () => use(text) } },
            plain(name),
          ),
        ),
      ),
    ),
    h('h2', null, k.schema),
    tables.map((x) =>
      h(
        'details',
        null,
        h(
          'summary',
          null,
          h('code', null, plain(x.name)),
          h('span', { class: 'muted small' }, ` ${counted(x.row_count, 'row', 'rows')}`),
        ),
        x.description ? h('p', { class: 'muted small' }, plain(x.description)) : null,
        h(
          'ul',
          { class: 'small' },
          x.columns.map((c) =>
            h(
              'li',
              null,
              h('code', null, plain(c.name)),
              c.type ? h('span', { class: 'muted' }, ` ${plain(c.type.toLowerCase())}`) : null,
            ),
          ),
        ),
      ),
    ),
    (hints?.notes ?? []).map((note) => h('p', { class: 'muted small' }, plain(note))),
  ];
}

// An answer.

function answerOf(answer) {
  const place = h('div'),
    { columns, rows, truncated, seconds } = answer;
  const list = rows ?? [];
  const views = { table: () => tableOf(columns, list), plot: () => plotOf(columns, list) };
  const buttons = Object.keys(views).map((name) =>
    h(
      'button',
      {
        type: 'button',
        'aria-pressed': String(name === 'table'),
        on: {
          click: (event) => {
            for (const b of buttons) b.setAttribute('aria-pressed', String(b === event.currentTarget));
            replace(place, views[name]());
          },
        },
      },
      k.views[name],
    ),
  );
  replace(place, views.table());
  return h(
    'section',
    { 'aria-label': k.answer },
    h(
      'div',
      { class: 'spread' },
      h('h2', null, k.rows(list.length)),
      h(
        'span',
        { class: 'row' },
        h('span', { class: 'muted small' }, `${seconds.toFixed(2)} s`),
        buttons,
        h(
          'button',
          { type: 'button', class: 'quiet', on: { click: () => saveCSV('query.csv', columns, list) } },
          t.figures.csv,
        ),
      ),
    ),
    truncated ? h('p', { class: 'tell warn' }, k.truncated(number(list.length))) : null,
    place,
  );
}

const SHOWN = 500;

function tableOf(columns, rows) {
  if (rows.length === 0) return h('p', { class: 'muted' }, k.noRows);
  const cell = (value) =>
    value === null
      ? h('td', { class: 'muted' }, 'NULL')
      : typeof value === 'number'
        ? h('td', { class: 'num' }, String(value))
        : h('td', null, h('span', { class: 'foreign' }, plain(value).slice(0, 5000)));
  return [
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': k.answer },
      h(
        'table',
        { class: 'rows' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            columns.map((c) => h('th', { scope: 'col' }, plain(c))),
          ),
        ),
        h(
          'tbody',
          null,
          rows.slice(0, SHOWN).map((row) => h('tr', null, row.map(cell))),
        ),
      ),
    ),
    rows.length > SHOWN ? h('p', { class: 'muted' }, t.figures.first(SHOWN, rows.length)) : null,
  ];
}

/** plotOf draws the first column against those that are numbers. */
function plotOf(columns, rows) {
  const numbers = columns
    .map((_, i) => i)
    .filter((i) => i > 0 && rows.every((r) => r[i] === null || typeof r[i] === 'number'));
  if (rows.length === 0 || numbers.length === 0) return h('p', { class: 'muted' }, k.noPlot);
  const title = `${plain(numbers.map((i) => columns[i]).join(', '))} / ${plain(columns[0])}`;
  if (rows.every((r) => typeof r[0] === 'number')) {
    const sorted = rows.toSorted((a, b) => a[0] - b[0]);
    return lines({
      title,
      x: sorted.map((r) => r[0]),
      xName: columns[0],
      series: numbers.map((i) => ({ name: columns[i], values: sorted.map((r) => r[i] ?? 0) })),
    });
  }
  return bars({
    title,
    names: numbers.map((i) => columns[i]),
    items: rows
      .slice(0, 120)
      .map((r) => ({ label: String(r[0] ?? 'NULL').slice(0, 40), parts: numbers.map((i) => Math.max(0, r[i] ?? 0)) })),
  });
}
