// Words that were typed and not sent yet: kept in the tab, so that neither a reload nor
// a page that is drawn anew takes them away.

const keyOf = (name) => `conclave-draft-${name}`;

/** draft is what was typed under a name; null where nothing was. */
export function draft(name) {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(name)));
  } catch {
    return null;
  }
}

export function keepDraft(name, typed) {
  try {
    sessionStorage.setItem(keyOf(name), JSON.stringify(typed));
  } catch {
    // More than the browser keeps: it stands in its field.
  }
}

export function dropDraft(name) {
  sessionStorage.removeItem(keyOf(name));
}
