import assert from 'node:assert/strict';
import test from 'node:test';
import { ago, costOf, dayTime, money, spent, usedCost } from './format.js';
import { t } from './texts.js';

test('money', () => {
  for (const [usd, said, atLeast] of [
    [null, t.noPrice, t.noPrice],
    [0, '$0', '≥ $0'],
    [0.004, '<$0.01', '> $0'],
    [0.29, '$0.29', '≥ $0.29'],
    [2.399, '$2.40', '≥ $2.39'],
    [250.6, '$251', '≥ $250'],
  ]) {
    assert.equal(money(usd), said);
    assert.equal(money(usd, true), atLeast);
  }
});

test('a cost of which a part has no price says at least, one without any that none is known', () => {
  assert.equal(costOf({ cost_usd: 2.4 }), '$2.40');
  assert.equal(costOf({ cost_usd: 2.4, cost_at_least: true }), '≥ $2.40');
  assert.equal(costOf({ cost_usd: null }), t.noPrice);
  assert.equal(usedCost({ cost_usd: 0, responses: 0 }), '–');
  assert.equal(usedCost({ cost_usd: 2.4, responses: 3 }), '$2.40');
  assert.equal(usedCost({ cost_usd: 0.001, responses: 3, unpriced_responses: 1 }), '> $0');
  assert.equal(usedCost({ cost_usd: 0, responses: 3, unpriced_responses: 3 }), t.noPrice);
  const priced = { usd: 1, input_tokens: 5, output_tokens: 5 };
  const unpriced = { usd: 0, input_tokens: 5, output_tokens: 0 };
  assert.equal(spent([priced]), '$1.00');
  assert.equal(spent([priced, unpriced]), '≥ $1.00');
  assert.equal(spent([unpriced]), t.noPrice);
  assert.equal(spent([{ usd: 0, input_tokens: 0, output_tokens: 0 }]), '–');
});

test('how long ago', () => {
  const now = Date.parse('2026-03-04T12:00:00Z');
  const at = (seconds) => new Date(now - seconds * 1000).toISOString();
  assert.equal(ago(at(5), now), t.justNow);
  assert.equal(ago(at(-5), now), t.justNow);
  assert.equal(ago(at(120), now), t.ago('2 min'));
  for (const far of [2 * 86400, -3600, -2 * 86400]) assert.equal(ago(at(far), now), dayTime(at(far)));
});

test('one token, many tokens', () => {
  assert.equal(t.run.tokens(1, '1'), '1 token');
  assert.equal(t.run.tokens(12345, '12.3k'), '12.3k tokens');
});
