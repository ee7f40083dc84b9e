import assert from 'node:assert/strict';
import test from 'node:test';
import { columnsOf, widened } from './columns.js';

/** sent builds what the server sends. */
function sent(head, columns) {
  let text = JSON.stringify(head);
  while ((text.length + 4) % 8) text += ' ';
  const parts = [new Uint8Array(new Uint32Array([text.length]).buffer), new TextEncoder().encode(text)];
  for (const column of columns) parts.push(new Uint8Array(column.buffer));
  const all = new Uint8Array(parts.reduce((n, part) => n + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.buffer;
}

for (const count of [0, 1, 2, 3, 5, 1001])
  test(`columns of ${count} entries are what was sent`, () => {
    const at = Float64Array.from({ length: count }, (_, n) => n * 1e9);
    const call = Int32Array.from({ length: count }, (_, n) => n - 1);
    const lane = Uint16Array.from({ length: count }, (_, n) => n);
    const type = Uint8Array.from({ length: count }, (_, n) => 'uacr'.charCodeAt(n % 4));
    const kinds = [
      ['at', 'f64'],
      ['call', 'i32'],
      ['lane', 'u16'],
      ['type', 'u8'],
    ];
    const got = columnsOf(sent({ run: 'r', epoch: 3, from: 7, total: 7 + count, columns: kinds }, [at, call, lane, type]));
    assert.equal(got.epoch, 3);
    assert.deepEqual(got.column, { at, call, lane, type });
  });

test('a widened column holds what it held', () => {
  const wide = widened(Int16Array.of(-1, 2), 5);
  assert.deepEqual(wide, Int16Array.of(-1, 2, 0, 0, 0));
});
