import assert from 'node:assert/strict';
import test from 'node:test';
import { t } from './texts.js';

test('how many denied sources were looked for', () => {
  const { searched } = t.knowledge;
  assert.equal(searched(4, 9, 9), '4 texts were looked through for 9 denied sources.');
  assert.equal(searched(1, 1, 1), '1 text was looked through for 1 denied source.');
  assert.equal(searched(4, 6, 9), '4 texts were looked through for 6 of 9 denied sources; 3 cannot be looked for.');
});

test('the room that a role needs, and that it would get', () => {
  const { walls } = t.knowledge;
  assert.equal(walls('sealed', 'sealed'), 'sealed');
  assert.equal(walls('sealed', undefined), 'at least sealed for a program');
  assert.equal(walls('sealed', 'in this process'), 'at least sealed for a program; now in this process');
});
