import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { cited, isPath } from './cited.js';
import { random } from './document.mjs';
import { h, link } from './dom.js';
import { blocks, inline, markdown } from './markdown.js';

test('blocks', () => {
  const kinds = (text) => blocks(text).map((b) => b.kind);
  assert.deepEqual(kinds('# A\n\nwords\nmore\n\n- a\n- b\n\n```go\nx\n```\n\n> q\n\n---\n\n|a|b|\n|-|-|\n|1|2|'), [
    'heading',
    'text',
    'list',
    'code',
    'quote',
    'rule',
    'table',
  ]);
  assert.deepEqual(blocks('```\n<b>\n# no\n'), [{ kind: 'code', language: '', text: '<b>\n# no\n' }]);
  const [list] = blocks('1. one\n   - in it\n2. two');
  assert.equal(list.items.length, 2);
  assert.equal(list.items[0][1].kind, 'list');
  assert.equal(blocks('3. three').at(0).start, 3);
});

test('inline', () => {
  const kinds = (text) => inline(text).map((part) => part.kind);
  assert.deepEqual(kinds('a **b** `c` *d* ~~e~~ [f](https://g.example) https://h.example.'), [
    'words',
    'strong',
    'words',
    'code',
    'words',
    'em',
    'words',
    'strike',
    'words',
    'link',
    'words',
    'link',
    'words',
  ]);
  assert.deepEqual(kinds('snake_case_name 2*3*4 **open'), ['words', 'em', 'words']);
  assert.deepEqual(inline('``a ` b``'), [{ kind: 'code', text: 'a ` b' }]);
  assert.deepEqual(
    inline('\\*no\\*')
      .map((part) => part.text)
      .join(''),
    '*no*',
  );
});

const hostile = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)>',
  '[x](javascript:alert(1))',
  '[x](JaVaScRiPt:alert(1))',
  '[x](data:text/html,<script>1</script>)',
  '[x](vbscript:x)',
  '![x](https://e.example/x.png)',
  '<javascript:alert(1)>',
  '[a](//evil.example)',
  '[bank](https://user:pass@evil.example)',
  '[x]( java\tscript:alert(1))',
  '<a href="https://e.example" onclick=alert(1)>x</a>',
  '[x](file:///etc/passwd)',
  '```<script>\nalert(1)\n```',
  '| <b>a</b> |\n|---|\n| <script> |',
  '> <iframe src=javascript:1>',
  '- <style>*{display:none}</style>',
  '&#60;script&#62;',
];
for (const text of hostile) {
  test(`nothing of ${JSON.stringify(text)} becomes more than text`, () => {
    const el = markdown(text);
    for (const node of el.all()) {
      assert.ok(!['script', 'img', 'svg', 'iframe', 'style'].includes(node.tag), node.tag);
      for (const [name, value] of Object.entries(node.attributes)) {
        assert.ok(!/^on/i.test(name), name);
        if (name === 'href') assert.match(value, /^https?:\/\/[^@]*$/);
      }
    }
  });
}

test('a link shows where it leads', () => {
  assert.equal(
    link('https://evil.example/a', 'https://bank.example').textContent,
    'https://bank.example (https://evil.example/a)',
  );
  assert.equal(link('javascript:alert(1)', 'x').textContent, 'x (javascript:alert(1))');
  const [, a] = [...link('https://e.example', 'x').all()];
  assert.deepEqual([a.attributes.rel, a.attributes.target], ['noreferrer noopener', '_blank']);
});

test('h refuses what could run', () => {
  for (const attrs of [
    { onclick: 'x' },
    { style: undefined, srcdoc: 'x' },
    { href: 'javascript:1' },
    { href: '//evil.example' },
    { src: 'https://e.example/x' },
    { action: '/x' },
  ]) {
    assert.throws(() => h('a', attrs), undefined, JSON.stringify(attrs));
  }
  assert.equal(h('a', { title: 'a\u202eb' }).attributes.title, 'a⟨U+202E⟩b');
});

test('headings fit where they stand', () => {
  const tags = [...markdown('# a\n\n###### b', { heading: 4 }).all()].map((node) => node.tag);
  assert.deepEqual(tags, ['div', 'h4', 'h4']);
});

test('no text is lost', () => {
  const pick = random(3);
  const parts = [
    '*',
    '**',
    '`',
    '```\n',
    '[',
    '](',
    ')',
    '_',
    '~~',
    '<b>',
    '|',
    '\n',
    '\n\n',
    '- ',
    '1. ',
    '> ',
    '# ',
    'word ',
    'https://e.example ',
    '\\',
    '  ',
  ];
  for (let round = 0; round < 1500; round++) {
    const text = Array.from({ length: 1 + pick(30) }, () => parts[pick(parts.length)]).join('');
    const words = (text.match(/word/g) ?? []).length;
    assert.equal((markdown(text).textContent.match(/word/g) ?? []).length, words, JSON.stringify(text));
  }
});

test('fences, headings and dividers', () => {
  assert.deepEqual(blocks('```go  x\na\n``\n~~~\n````'), [{ kind: 'code', language: 'go', text: 'a\n``\n~~~' }]);
  assert.equal(blocks('``` a`b')[0].kind, 'text');
  const titles = ['# a', '#', '## b ##  ', '# c#', '# d # #', '# ##', '#\te'].map((line) => blocks(line)[0].text);
  assert.deepEqual(titles, ['a', '', 'b', 'c#', 'd #', '##', 'e']);
  assert.equal(blocks('#a')[0].kind, 'text');
  for (const line of ['|-|-|', ' :--|--: ', '|-', '-|-', '\t| --- |'])
    assert.equal(blocks(`a|b\n${line}`)[0].kind, 'table', line);
  for (const line of ['|', '||', '|-||', '|- -|', '--', '|-|x|'])
    assert.equal(blocks(`a|b\n${line}`)[0].kind, 'text', line);
  assert.deepEqual(blocks('|a|b\\||\n|-|-|\n|1|2')[0], { kind: 'table', head: ['a', 'b|'], rows: [['1', '2']] });
});

test('a text that is too long is shown as it stands', () => {
  const told = markdown('# a\n'.repeat(15001));
  assert.ok(!/h\d/.test([...told.all()].map((node) => node.tag)));
  assert.match(told.textContent, /^All 60,004 characters.*# a\n# a\n/s);
  assert.match(markdown('word '.repeat(200000)).textContent, /^The first 400,000 of 1,000,000 characters/);
});

test('places in files', () => {
  const places = (text) => cited(text).filter((place) => isPath(text, place));
  assert.deepEqual(places('docs/a.md:12, /etc/x.md:3-9 and `Makefile:4`, not http://a.example:80, 12:30 or b:1'), [
    { from: 0, to: 12, path: 'docs/a.md', line: '12', end: undefined },
    { from: 15, to: 27, path: 'etc/x.md', line: '3', end: '9' },
    { from: 33, to: 43, path: 'Makefile', line: '4', end: undefined },
  ]);
});

// Time in proportion to the text: four times the text takes less than ten times as
// long, where it takes long enough to be told. A form that goes back for every
// character takes sixteen times as long, and at this size a second.
const SIZE = 16000;
// prettier-ignore
const STARTS = [
  '', '# a', '|\n|-', '|\n|', '```', '~~~', '- ', '* ', '> ', '[a](b', '[', 'https://a', '<https://', '**__~~*_',
];
// prettier-ignore
const PARTS = [
  ' ', '\t', '\r', '#', ' #', '-', '- ', '|', '|-', '`', '` ', '~', '*', '*a ', '**a ', '_', '_a', '~~a ', '[',
  '[a](', '](', ')', '1', '1. ', '\\', 'a', 'a/', 'a.b:1 ', ':', '> ', '<b>', 'https://', '.', '\n', '\n- ', '\n> ',
  '\n|', '```\n', '![', '"',
];
const ENDS = ['x', '`', '\rx'];

function spent(fn, text) {
  const before = process.cpuUsage();
  fn(text);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function inProportion(name, fn) {
  for (const start of STARTS)
    for (const part of PARTS)
      for (const end of ENDS) {
        const text = (size) => start + part.repeat(size / part.length) + end;
        let short = 0;
        let long = Infinity;
        for (let round = 0; round < 5 && long > Math.max(50, 10 * short); round++) {
          long = Math.min(long, spent(fn, text(SIZE)));
          if (long > 50) short = Math.max(short, spent(fn, text(SIZE / 4)));
        }
        const told = JSON.stringify([start, part, end]);
        assert.ok(long <= Math.max(50, 10 * short), `${name}: ${told}: ${short} and ${long} ms`);
      }
}

test('every text takes time in proportion to it', () => inProportion('markdown', markdown));

test('places are found in proportion to the text', () =>
  inProportion('cited', (text) => cited(text).filter((place) => isPath(text, place))));

test('every form takes time in proportion to the line', () => {
  const source = readFileSync(new URL('markdown.js', import.meta.url), 'utf8').replace(/^\s*(\/\/|\*|\/\*\*).*$/gm, '');
  const forms = [...source.matchAll(/(?<=[ (])\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\\n[])+)\/([a-z]*)/g)];
  assert.ok(forms.length > 10, `${forms.length} forms found`);
  for (const [whole, form, flags] of forms) inProportion(whole, (text) => text.replace(new RegExp(form, flags), ''));
});

test('a row that lacks cells has no more nodes than its own', () => {
  const all = [...markdown(`${'|a'.repeat(60)}|\n${'|-'.repeat(60)}|\n${'|\n'.repeat(10000)}`).all()];
  assert.ok(all.length < 40000, `${all.length} nodes`);
});
