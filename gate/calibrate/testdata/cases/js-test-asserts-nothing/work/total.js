'use strict';

// total is the price of an order; from 100 on there are ten percent off.
function total(lines) {
  const sum = lines.reduce((s, l) => s + l.price * l.count, 0);
  return sum >= 100 ? sum * 0.9 : sum;
}

module.exports = { total };
