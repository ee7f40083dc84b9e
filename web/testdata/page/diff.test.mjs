import assert from 'node:assert/strict';
import test from 'node:test';
import { random } from './document.mjs';
import { compare, counts, edits } from './diff.js';

const signs = (lines) => lines.map((line) => line.sign + line.text);

test('compare gives both sides back', () => {
  const pick = random(11);
  for (let round = 0; round < 500; round++) {
    const side = () => Array.from({ length: pick(12) }, () => 'abcd'[pick(4)]);
    const [before, after] = [side(), side()];
    const lines = compare(before, after);
    assert.deepEqual(
      lines.filter((l) => l.sign !== '+').map((l) => l.text),
      before,
    );
    assert.deepEqual(
      lines.filter((l) => l.sign !== '-').map((l) => l.text),
      after,
    );
  }
});

test('what agents hand to their tools', () => {
  const [edit] = edits('Edit', { file_path: 'a.go', old_string: 'x\ny', new_string: 'x\nz' });
  assert.deepEqual([edit.path, ...signs(edit.lines)], ['a.go', ' x', '-y', '+z']);
  const [several] = edits('MultiEdit', {
    file_path: 'a.go',
    edits: [
      { old_string: 'a', new_string: 'b' },
      { old_string: 'c', new_string: '' },
    ],
  });
  assert.deepEqual(signs(several.lines), ['-a', '+b', '@', '-c']);
  const [written] = edits('Write', { file_path: 'b.go', content: 'one\ntwo\n' });
  assert.deepEqual(signs(written.lines), ['+one', '+two']);
  const patch =
    '*** Begin Patch\n*** Update File: c.go\n*** Move to: d.go\n@@ func\n a\n-b\n+c\n*** Add File: e.go\n+new\n*** End Patch\n';
  for (const input of [patch, { input: patch }, { command: ['apply_patch', patch] }, JSON.stringify({ patch })]) {
    const files = edits('apply_patch', input);
    assert.deepEqual(
      files.map((file) => file.path),
      ['c.go → d.go', 'e.go'],
    );
    assert.deepEqual(counts(files[0].lines), { added: 1, removed: 1 });
  }
  const [change] = edits('file_change', {
    changes: { 'f.go': { update: { unified_diff: '--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n' } } },
  });
  assert.deepEqual([change.path, ...signs(change.lines)], ['f.go', '@@@ -1 +1 @@', '-x', '+y']);
});

test('what is no change is none', () => {
  for (const input of [
    undefined,
    null,
    '',
    'words',
    '{',
    7,
    [],
    {},
    { file_path: 7 },
    { path: 'a', old_string: 1, new_string: 2 },
    { changes: [null, 7] },
    { edits: [null] },
  ]) {
    assert.deepEqual(edits('Edit', input), [], JSON.stringify(input));
  }
  assert.deepEqual(edits('Read', { file_path: 'a', content: 'x' }), []);
});

test('long files take no time', () => {
  const side = (k) => Array.from({ length: 30000 }, (_, i) => `${(i * k) % 977}`);
  assert.ok(compare(side(3), side(7)).length >= 30000);
});
