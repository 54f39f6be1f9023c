// acorn: syntax trees, tokens and errors.

import * as acorn from 'acorn';

const code =
  'async function* f({ a, ...rest } = {}) { for await (const x of a?.b ?? rest) yield x ** 2n; }\nclass A { static #p = /(?<y>\\d+)/v; static { this.q = 1; } }';
const tree = acorn.parse(code, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
const count = new Map();
JSON.stringify(tree, (key, value) => {
  if (key === 'type') count.set(value, (count.get(value) ?? 0) + 1);
  return typeof value === 'bigint' ? String(value) : value;
});
console.log(Object.fromEntries([...count].sort()));
console.log([...acorn.tokenizer('let x = `a${b}c`', { ecmaVersion: 2024 })].map((token) => token.type.label).join(' '));
for (const wrong of ['let let = 1', 'a =', 'return 1', '({ a: 1, }) => {']) {
  try {
    acorn.parse(wrong, { ecmaVersion: 2024 });
  } catch (error) {
    console.log(error.name, error.message, error.pos);
  }
}
