// immer: drafts, patches and frozen results.

import { applyPatches, enableMapSet, enablePatches, produce, produceWithPatches } from 'immer';

enablePatches();
enableMapSet();
const base = { users: [{ name: 'a' }, { name: 'b' }], tags: new Set(['x']), map: new Map([['k', { v: 1 }]]) };
const next = produce(base, (draft) => {
  draft.users[1].name = 'c';
  draft.users.push({ name: 'd' });
  draft.tags.add('y');
  draft.map.get('k').v++;
});
console.log(next, base.users.length, next.users[0] === base.users[0], Object.isFrozen(next));
const [, patches, inverse] = produceWithPatches({ a: [1, 2] }, (draft) => {
  draft.a.splice(0, 1);
  draft.b = true;
});
console.log(JSON.stringify(patches), applyPatches({ a: [2], b: true }, inverse));
