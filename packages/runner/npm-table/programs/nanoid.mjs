// nanoid: identifiers of a length and an alphabet.

import { customAlphabet, customRandom, nanoid, urlAlphabet } from 'nanoid';

const ids = Array.from({ length: 500 }, () => nanoid());
console.log(
  new Set(ids).size,
  ids.every((id) => /^[\w-]{21}$/.test(id)),
  nanoid(5).length,
  urlAlphabet.length,
);
console.log(/^[abc]{40}$/.test(customAlphabet('abc', 40)()));
let seed = 1;
console.log(customRandom('0123456789', 12, (size) => Uint8Array.from({ length: size }, () => (seed = (seed * 75) % 251)))());
