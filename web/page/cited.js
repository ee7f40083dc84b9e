// Places in files as people and agents write them: docs/design.md:12, or :12-20.
// It is what quest/judging takes for a citation. A place is found by its colon, and
// its path from there back to the colon before: each character is looked at once.

const CITED = /:(?=\d)(?<=([\p{L}\p{N}_.@+-]+(?:\/[\p{L}\p{N}_.@+()-]+)*):)(\d{1,7})(?:-(\d{1,7}))?/gu;

/**
 * cited are the places that a text names, in order.
 * @param {string} text
 * @returns {{from: number, to: number, path: string, line: string, end: (string|undefined)}[]}
 */
export function cited(text) {
  const places = [];
  let done = 0;
  for (const { 0: lines, 1: path, 2: line, 3: end, index } of text.matchAll(CITED)) {
    const from = index - path.length;
    if (from < done) continue; // the lines of a place are no path
    done = index + lines.length;
    places.push({ from, to: done, path, line, end });
  }
  return places;
}

/** isPath says whether a place is one of a file, and not of a server or a clock. */
export function isPath(text, { from, path }) {
  return (
    !text.slice(Math.max(0, from - 2), from).endsWith('//') &&
    /[A-Za-z\u0080-\u{10ffff}]/u.test(path) &&
    (/[./]/.test(path) || text[from - 1] === '`') &&
    !path.endsWith('localhost')
  );
}
