'use strict';

// groupBy puts items into groups by what key says of each: a Map from key to array.
function groupBy(items, key) {
  const groups = new Map();
  for (const item of items) {
    const k = key(item);
    const group = groups.get(k);
    if (group === undefined) {
      groups.set(k, [item]);
    } else {
      group.push(item);
    }
  }
  return groups;
}

module.exports = { groupBy };
