// A document with no more than h needs, so that what it refuses can be tried
// without a browser.

export class FakeNode {}

class FakeText extends FakeNode {
  constructor(text) {
    super();
    this.text = text;
  }

  get textContent() {
    return this.text;
  }
}

class FakeElement extends FakeNode {
  constructor(tag) {
    super();
    Object.assign(this, { tag, attributes: {}, children: [], dataset: {}, listeners: {} });
    this.style = { setProperty: (name, value) => (this.attributes[`style.${name}`] = value) };
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  addEventListener(name, fn) {
    this.listeners[name] = fn;
  }

  append(...nodes) {
    this.children.push(...nodes);
  }

  get textContent() {
    return this.children.map((child) => child.textContent).join('');
  }

  /** all are this element and everything in it. */
  *all() {
    yield this;
    for (const child of this.children) if (child instanceof FakeElement) yield* child.all();
  }
}

globalThis.Node = FakeNode;
globalThis.document = {
  createElement: (tag) => new FakeElement(tag),
  createElementNS: (_, tag) => new FakeElement(tag),
  createTextNode: (text) => new FakeText(text),
};

/** random is a small generator of the same numbers every time. */
export function random(seed) {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}
