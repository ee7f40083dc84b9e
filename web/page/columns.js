// The columns of a run's entries, as the server sends them: arrays of numbers that
// need no parser. archive/runs/columns.go says how they are built.

const KINDS = {
  f64: Float64Array,
  i32: Int32Array,
  u32: Uint32Array,
  u16: Uint16Array,
  i16: Int16Array,
  u8: Uint8Array,
};

/** columnsOf looks at what the server sent as its head and arrays by name. */
export function columnsOf(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const count = head.total - head.from;
  let at = 4 + length;
  const column = {};
  for (const [name, kind] of head.columns) {
    column[name] = new KINDS[kind](buffer, at, count);
    at += column[name].byteLength;
  }
  return { ...head, column };
}

/** widened is a column with room for more. */
export function widened(column, length) {
  const wide = new column.constructor(length);
  wide.set(column);
  return wide;
}
