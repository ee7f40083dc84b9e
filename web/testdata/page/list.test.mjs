import assert from 'node:assert/strict';
import test from 'node:test';
import { random } from './document.mjs';
import { Heights } from './list.js';

test('heights are what a plain sum says', () => {
  const pick = random(5);
  for (let round = 0; round < 200; round++) {
    const sizes = Array.from({ length: pick(90) }, () => 1 + pick(50));
    const heights = new Heights(sizes.length, pick(3) * 20);
    if (pick(2)) for (const [i, size] of sizes.entries()) heights.set(i, size);
    else heights.all(Float64Array.from(sizes));
    for (let k = pick(60); k > 0; k--) {
      if (sizes.length && pick(2)) {
        const i = pick(sizes.length);
        heights.set(i, (sizes[i] = 1 + pick(50)));
      } else if (sizes.length && pick(4) === 0) {
        sizes.length = pick(sizes.length);
        heights.cut(sizes.length);
      } else {
        heights.push(sizes[sizes.push(1 + pick(50)) - 1]);
      }
      if (pick(20) === 0) heights.all(Float64Array.from(sizes));
    }
    check(heights, sizes, pick);
  }
});

test('rows are alike until something is known of them', () => {
  const heights = new Heights(1000, 60);
  check(heights, Array(1000).fill(60), random(6));
});

function check(heights, sizes, pick) {
  const total = sizes.reduce((a, b) => a + b, 0);
  assert.equal(heights.total, total);
  for (let i = 0; i <= sizes.length; i++)
    assert.equal(
      heights.before(i),
      sizes.slice(0, i).reduce((a, b) => a + b, 0),
    );
  if (total === 0) return;
  const y = pick(total);
  const { i, dy } = heights.at(y);
  assert.equal(heights.before(i) + dy, y);
  assert.ok(dy < sizes[i]);
  assert.deepEqual(heights.at(total + 5).i, sizes.length - 1);
}
