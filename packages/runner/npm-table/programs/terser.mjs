// terser: minifying with a source map.

import { minify } from 'terser';

const code =
  'function add(first, second) { const unused = 1; if (false) { dead(); } return first + second; }\nconsole.log(add(1, 2), `a${1 + 1}b`, typeof undefined === "undefined");\nclass LongName { #field = 1; get value() { return this.#field ?? null; } }\nexport { LongName as default };';
const { code: small, map } = await minify({ 'in.js': code }, { module: true, sourceMap: true, compress: { passes: 2 } });
console.log(small);
console.log(JSON.parse(map).sources, JSON.parse(map).mappings.length > 20);
console.log((await minify('let a = {b: 1}; with', {}).catch((error) => error)).message);
console.log((await minify('function f(x) { return x * 2 } f(3)', { mangle: false, format: { beautify: true } })).code);
