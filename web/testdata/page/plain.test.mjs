import assert from 'node:assert/strict';
import test from 'node:test';
import { random } from './document.mjs';
import { oneLine, plain } from './plain.js';

const cases = [
  ['as it is', 'Grüße, 日本語, עברית\n\tzweite Zeile', 'Grüße, 日本語, עברית\n\tzweite Zeile'],
  ['bidi', 'a\u202egnp.exe\u202c', 'a⟨U+202E⟩gnp.exe⟨U+202C⟩'],
  ['isolates', '\u2066x\u2069', '⟨U+2066⟩x⟨U+2069⟩'],
  ['zero width', 'pass\u200bword\ufeff', 'pass⟨U+200B⟩word⟨U+FEFF⟩'],
  ['tags', 'x\u{e0041}', 'x⟨U+E0041⟩'],
  ['colours go', '\x1b[1;31mred\x1b[0m', 'red'],
  ['what steers is shown', '\x1b]0;title\x07\x9b2J\b', '␛]0;title␇⟨U+009B⟩2J␈'],
  ['returns', 'a\r\nb\rc', 'a\nb␍c'],
  ['a family stays one', '👩‍👩‍👧', '👩‍👩‍👧'],
  ['a keycap', '1️⃣', '1️⃣'],
  ['a joiner between Latin letters', 'a\u200db', 'a⟨U+200D⟩b'],
  ['a joiner that means something', 'می‌خواهم', 'می‌خواهم'],
  ['a selector that hides', 'a\ufe01b', 'a⟨U+FE01⟩b'],
  ['too many marks', 'z' + '\u0301'.repeat(9), 'z' + '\u0301'.repeat(8) + '⟨U+0301⟩'],
  ['half a pair', '\ud800x', '⟨U+D800⟩x'],
  ['line separators', 'a\u2028b', 'a⟨U+2028⟩b'],
  ['nothing', undefined, ''],
  ['a number', 7, '7'],
];
for (const [name, given, wanted] of cases) test(`plain: ${name}`, () => assert.equal(plain(given), wanted));

test('plain leaves nothing that steers', () => {
  const pick = random(7);
  const parts = [
    'a',
    'é',
    '日',
    ' ',
    '\n',
    '\x1b[31m',
    '\x1b',
    '\x07',
    '\u202e',
    '\u200d',
    '\u200c',
    '\ufe0f',
    '👩',
    '\u0301',
    '\ud83d',
    '\u{e0100}',
    '漢',
    '\u00ad',
    '\u2028',
  ];
  for (let round = 0; round < 2000; round++) {
    const text = Array.from({ length: 1 + pick(12) }, () => parts[pick(parts.length)]).join('');
    const shown = plain(text);
    assert.doesNotMatch(
      shown,
      /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b\u2028]/,
      JSON.stringify(text),
    );
  }
});

test('oneLine is one line, and cuts no character in two', () => {
  assert.equal(oneLine('  a\n\n b\tc '), 'a b c');
  assert.equal(oneLine('😀😀😀', 3), '😀…');
  assert.equal(oneLine('x'.repeat(1e6), 10), 'xxxxxxxxxx…');
});
