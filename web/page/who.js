// Who somebody is: names of states, agents and roles, with the animals' faces.

import { h } from './dom.js';
import { oneLine } from './plain.js';
import { t } from './texts.js';

const FACES = {
  bear: '🐻',
  cat: '🐱',
  owl: '🦉',
  puppy: '🐶',
  rabbit: '🐰',
  wolf: '🐺',
  gandalf: '🧙',
  guardian: '🛡️',
  dragon: '🐉',
  simon: '🎓',
  gm: '🎲',
  player: '🎭',
  judge: '⚖️',
};

/** face is an animal's picture, or nothing. */
export function face(role) {
  const [who] = String(role ?? '')
    .toLowerCase()
    .split(/[ :/]/);
  return Object.hasOwn(FACES, who) ? h('span', { class: 'face', 'aria-hidden': 'true' }, FACES[who]) : null;
}

/** state says how a run stands: by a word, a shape and a colour. */
export function state(name) {
  const known = Object.hasOwn(t.states, name);
  return h('span', { class: `state ${known ? name : 'idle'}` }, known ? t.states[name] : oneLine(name, 30));
}

/** agentName is how people call an adapter. */
export function agentName(adapter) {
  return Object.hasOwn(t.agents, adapter ?? '') ? t.agents[adapter] : oneLine(adapter ?? '', 60) || t.unknown;
}

/** projectName is the last part of a project's path, which is its name. */
export function projectName(path) {
  return oneLine(
    String(path ?? '')
      .replace(/[/\\]+$/, '')
      .split(/[/\\]/)
      .pop() ?? '',
    80,
  );
}

/** roleOf is a role as it is shown: that somebody is the main agent of a session is no role. */
export function roleOf(role) {
  return role === 'main' ? '' : oneLine(role ?? '', 60);
}
