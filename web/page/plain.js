// Foreign text as it may be shown. The rule is internal/screen's: what steers,
// reorders or hides is shown by its name, ⟨U+202E⟩, and controls by their
// pictures, ␛; so a transcript reads the same here as in a terminal.

const PLAIN_ASCII = /^[\n\t\x20-\x7e]*$/;
const COLOUR = /\x1b\[[0-9;:]*m/g;
const SUSPECT = new RegExp(
  '[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f]|\\p{Cf}|\\p{Cs}|[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f' +
    '\\u2028\\u2029\\u2065\\u3164\\ufdd0-\\ufdef\\uffa0\\ufff0-\\ufff8\\ufffe\\uffff\\ufe00-\\ufe0f]|' +
    '[\\u{e0000}-\\u{e0fff}\\u{10fffe}\\u{10ffff}]|(?<=[\\p{Mn}\\p{Me}]{8})[\\p{Mn}\\p{Me}]+',
  'gu',
);
const PICTURE = /[\p{So}\p{Sm}]/u;
const HAN = /\p{Script=Han}/u;
const JOINING = /[\p{L}\p{M}]/u;
const UNJOINED = new RegExp(
  '[\\0-\\x7f\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Armenian}\\p{Script=Georgian}' +
    '\\p{Script=Hebrew}\\p{Script=Han}\\p{Script=Hangul}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Bopomofo}]',
  'u',
);
const DRAWN = new Set([0x600, 0x601, 0x602, 0x603, 0x604, 0x605, 0x6dd, 0x70f, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd]);

/**
 * plain makes foreign text fit to be shown: lines and tabs stay, colours of a
 * terminal go, and what would steer, reorder or hide is shown.
 * @param {unknown} text
 * @returns {string}
 */
export function plain(text) {
  const given = typeof text === 'string' ? text : text == null ? '' : String(text);
  if (PLAIN_ASCII.test(given)) return given;
  return given
    .replace(/\r\n/g, '\n')
    .replace(COLOUR, '')
    .replace(SUSPECT, (found, at, whole) => (harmless(found, at, whole) ? found : [...found].map(shown).join('')));
}

/**
 * oneLine is plain text in a single line of at most max characters.
 * @param {unknown} text
 * @param {number} [max]
 */
export function oneLine(text, max = 300) {
  const given = typeof text === 'string' ? text : text == null ? '' : String(text);
  const line = plain(
    given
      .slice(0, max * 4)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  if (line.length <= max) return line;
  return line.slice(0, /[\ud800-\udbff]/.test(line[max - 1]) ? max - 1 : max) + '…';
}

function harmless(found, at, whole) {
  const code = found.codePointAt(0);
  if (DRAWN.has(code)) return true;
  const prev = before(whole, at),
    next = after(whole, at + found.length);
  if (code === 0x200c || code === 0x200d) return joins(prev) && joins(next);
  if (code >= 0xfe00 && code <= 0xfe0f) {
    return PICTURE.test(prev) || HAN.test(prev) || (code === 0xfe0f && next === '\u20e3' && /[0-9#*]/.test(prev));
  }
  return code >= 0xe0100 && code <= 0xe01ef && HAN.test(prev);
}

function joins(char) {
  if (char === '') return false;
  if (char === '\ufe0f' || PICTURE.test(char) || (/\p{Sk}/u.test(char) && char.codePointAt(0) > 0x1f000)) return true;
  return JOINING.test(char) && !UNJOINED.test(char);
}

function before(whole, at) {
  const low = whole.charCodeAt(at - 1);
  return at === 0 ? '' : low >= 0xdc00 && low < 0xe000 ? whole.slice(at - 2, at) : whole[at - 1];
}

function after(whole, at) {
  return at >= whole.length ? '' : String.fromCodePoint(whole.codePointAt(at));
}

function shown(char) {
  const code = char.codePointAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return '\u2421';
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}
