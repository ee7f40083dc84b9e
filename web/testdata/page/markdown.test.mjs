import assert from 'node:assert/strict';
import test from 'node:test';
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

test('no text is lost, and none takes long', () => {
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
  for (const part of [
    '<b>',
    '*',
    '**a ',
    '[',
    '[a](',
    '`',
    '> ',
    '- ',
    '|',
    '_a',
    '~~',
    '#',
    '\\',
    '![',
    '1. ',
    ' ',
    '```\n',
  ]) {
    const before = process.cpuUsage().user;
    markdown(part.repeat(20000));
    assert.ok(process.cpuUsage().user - before < 5e6, `${JSON.stringify(part)} 20,000 times`);
  }
});
