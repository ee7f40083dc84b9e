'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { total } = require('./total.js');

test('a small order has no discount', () => {
  total([{ price: 20, count: 2 }]);
});

test('a large order has ten percent off', () => {
  assert.ok(() => total([{ price: 60, count: 2 }]) === 108);
});
