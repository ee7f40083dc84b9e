// Every text of the page that is not somebody else's, in one place.

const counted = (n, one, many) => `${n.toLocaleString('en-GB')} ${n === 1 ? one : many}`;

export const t = {
  name: 'Conclave',
  unknown: 'not known',
  noPrice: 'no price known',
  justNow: 'just now',
  ago: (length) => `${length} ago`,
  loading: 'Reading …',
  nothing: 'Nothing here.',
  asTable: 'As a table',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied.',
  showAll: (n) => `Show all ${n.toLocaleString('en-GB')} characters`,
  failed: 'That did not work',
  again: 'Try again',
  lost: 'The connection is gone; what you see may be old.',
  back: 'Connected again.',
  noPage: 'There is no such page.',
  noPageHint: 'The address leads nowhere here. The menu above knows every way.',
  states: { working: 'working', waiting: 'waiting for you', idle: 'idle', stale: 'stale' },

  locked: {
    title: 'The door is closed',
    text: 'This page opens with a one-time link. Run “conclave web” in a terminal: it prints a fresh one, also while the page is being served.',
    code: 'Code from the link',
    enter: 'Enter',
    wrong: 'That code opens nothing: it was used, it is too old, or it never was one.',
  },

  shell: {
    skip: 'Skip to the content',
    menu: 'Pages',
    palette: 'Go to or search',
    theme: 'Colours',
    themes: { auto: 'as the system', light: 'light', dark: 'dark' },
    help: 'Keys and help',
    readOnly: 'read only',
  },

  diff: {
    added: 'came',
    removed: 'went',
    label: (path, added, removed) => `Change of ${path}: ${counted(added, 'line', 'lines')} came, ${counted(removed, 'line', 'lines')} went`,
    more: (n) => `${counted(n, 'more line', 'more lines')} not shown; the raw bytes have them.`,
  },

  palette: {
    title: 'Go to or search',
    placeholder: 'A page, a run, some words …',
    none: 'Nothing fits.',
    results: (n) => counted(n, 'result', 'results'),
    pages: 'Pages',
    actions: 'Here',
    runs: 'Runs',
    entries: 'In everything recorded',
  },

  help: {
    title: 'Keys',
    everywhere: 'Everywhere',
    here: 'On this page',
    single: 'Keys without Ctrl or Cmd',
    singleHint: 'Turn them off if you speak to your computer, or if they get in your way.',
    palette: 'go to or search',
    help: 'this help',
    search: 'search on this page',
    next: 'next in the list',
    previous: 'previous in the list',
    open: 'open it',
    goTo: (page) => `go to ${page}`,
    close: 'close what is open',
  },
};
