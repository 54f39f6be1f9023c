// Bundles keep the names of functions and classes, although the build removes most calls of
// esbuild's helper for names.

import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { removeNeedlessNames } from '../build/needless-names.mjs';
import { fromRoot } from '../build/paths.mjs';

const { buildSync } = createRequire(fromRoot('packages/runner/package.json'))('esbuild');

/** Bundles two modules. A name of the first is a name of the second too, so esbuild renames it. */
function bundled(source) {
  const { outputFiles } = buildSync({
    stdin: { contents: `import 'data:text/javascript,export function taken() {} taken()';\n${source}` },
    bundle: true,
    write: false,
    format: 'esm',
    keepNames: true,
  });
  return outputFiles[0].text;
}

const load = (code) => import(`data:text/javascript,${encodeURIComponent(code)}`);

const SOURCE = `
  export function declared() { function inner() {} return inner; }
  export const arrow = (a, b = (1, 2)) => a + b;
  export let assigned; assigned = async () => {};
  export class Plain { #hidden = () => {}; hidden() { return this.#hidden; } }
  export class Selfish { static make() { return new Selfish(); } }
  export const Expression = class extends Plain { static made = 1; };
  export const map = { key: () => {}, method() {}, 'with space': () => {} };
  function taken() {}
  export { taken };
`;

test('removes unnecessary calls of the helper, and keeps all names', async () => {
  const before = bundled(SOURCE);
  const after = removeNeedlessNames(before);
  const count = (code) => code.split('__name(').length - 1;
  expect(count(after)).toBeLessThan(count(before) / 2);
  const names = ({ declared, arrow, assigned, Plain, Selfish, Expression, map, taken }) => [
    [declared, declared(), arrow, assigned, taken].map(({ name }) => name),
    [Plain, new Plain().hidden(), Selfish, Selfish.make().constructor, Expression].map(({ name }) => name),
    [map.key, map.method, map['with space']].map(({ name }) => name),
  ];
  expect(names(await load(after))).toEqual(names(await load(before)));
  expect(names(await load(after))).toEqual([
    ['declared', 'inner', 'arrow', 'assigned', 'taken'],
    ['Plain', '#hidden', 'Selfish', 'Selfish', 'Expression'],
    ['key', 'method', 'with space'],
  ]);
});

test('changes no other code', () => {
  const code = 'const text = `\n  \n__name(a, "a");\n`;\nexport const value = /* @__PURE__ */ other(() => {}, "value");\n';
  expect(removeNeedlessNames(code)).toBe(code);
});

test('leaves no mark of a pure call before a function, of which bundlers would warn', () => {
  expect(removeNeedlessNames(bundled(SOURCE))).not.toMatch(/__PURE__ \*\/ (async )?\(/);
});
