import assert from 'node:assert/strict';
import test from 'node:test';
import { t } from './texts.js';

test('how many denied sources were looked for', () => {
  const { searched } = t.knowledge;
  assert.equal(searched(4, 9, 9), '4 texts were looked through for 9 denied sources.');
  assert.equal(searched(1, 1, 1), '1 text was looked through for 1 denied source.');
  assert.equal(searched(4, 6, 9), '4 texts were looked through for 6 of 9 denied sources; 3 cannot be looked for.');
});
