// Programs that stay in one loop for seconds, most of them in a native loop of the engine. The
// interrupt handler must stop each program soon after a request to stop. `prepare` runs before the
// clock starts; `loop` must be stoppable.

const big = "const text = 'abcdefghij'.repeat(3_000_000);";
const wide = "const text = 'äbcdefghij€'.repeat(600_000);";
const bytes = 'const bytes = new Uint8Array(50_000_000);';
const list = 'const list = new Array(3_000_000).fill(1).map((x, i) => i);';
const hole = 'const hole = { length: 2 ** 53 - 1 };';
const forever = (body) => `for (;;) { ${body} }`;

export const STOP_CASES = {
  'empty loop': { loop: 'while (true) {}' },
  calls: { loop: 'const f = () => f2(); const f2 = () => 1; for (;;) f();' },
  'try and finally': { loop: 'for (;;) { try { for (;;) {} } catch { } finally { for (;;) {} } }' },
  promises: { loop: 'const again = () => Promise.resolve().then(again, again); again(); await new Promise(() => {});' },
  'async functions': {
    loop: 'async function f() { for (;;) { try { await null; } catch {} finally { await null; } } } await f();',
  },
  generators: { loop: 'function* g() { for (;;) { try { yield 1; } finally { } } } for (const x of g());' },
  'generator return': { loop: 'function* g() { try { yield 1; } finally { for (;;) {} } } for (const x of g()) break;' },
  'iterator protocol': {
    loop:
      'const it = { [Symbol.iterator]() { return this; }, next() { return { value: 1 }; }, ' +
      'return() { for (;;) {} } }; for (const x of it);',
  },
  getter: { loop: 'const o = { get x() { for (;;) {} } }; JSON.stringify(o);' },
  proxy: { loop: 'const p = new Proxy({}, { get() { for (;;) {} } }); p.x;' },
  toString: { loop: '`${{ toString() { for (;;) {} } }}`;' },
  'tagged microtasks': {
    loop: 'const tick = () => queueMicrotask(tick); tick(); await new Promise(() => {});',
    needs: 'queueMicrotask',
  },

  'array fill': { loop: forever('new Array(6_000_000).fill(0);') },
  'array fill generic': { prepare: hole, loop: 'Array.prototype.fill.call(hole, 1);' },
  'array indexOf': { prepare: list, loop: forever('list.indexOf(-1);') },
  'array indexOf generic': { prepare: hole, loop: 'Array.prototype.indexOf.call(hole, 1);' },
  'array includes': { prepare: list, loop: forever('list.includes(-1);') },
  'array includes generic': { prepare: hole, loop: 'Array.prototype.includes.call(hole, 1);' },
  'array lastIndexOf': { prepare: list, loop: forever('list.lastIndexOf(-1);') },
  'array lastIndexOf generic': { prepare: hole, loop: 'Array.prototype.lastIndexOf.call(hole, 1);' },
  'array join': { prepare: list, loop: forever('list.join();') },
  'array join generic': { loop: 'Array.prototype.join.call({ length: 900_000_000 }, "");' },
  'array reverse': { prepare: list, loop: forever('list.reverse();') },
  'array reverse generic': { prepare: hole, loop: 'Array.prototype.reverse.call(hole);' },
  'array copyWithin': { prepare: list, loop: forever('list.copyWithin(0, 1);') },
  'array copyWithin generic': { prepare: hole, loop: 'Array.prototype.copyWithin.call(hole, 0, 1);' },
  'array slice': { prepare: list, loop: forever('list.slice();') },
  'array slice generic': { prepare: hole, loop: 'Array.prototype.slice.call({ length: 4_000_000_000 }, 0);' },
  'array splice': { prepare: list, loop: forever('list.splice(0, 1, 1, 1);') },
  'array splice generic': { prepare: hole, loop: 'Array.prototype.splice.call(hole, 0, 1);' },
  'array shift': { prepare: list, loop: forever('list.push(list.shift());') },
  'array unshift generic': { loop: 'Array.prototype.unshift.call({ length: 2 ** 52 }, 1);' },
  'array concat': { prepare: list, loop: forever('list.concat(list);') },
  'array concat generic': { loop: '[].concat({ length: 2 ** 40, [Symbol.isConcatSpreadable]: true });' },
  'array flat': { prepare: list, loop: forever('[list, list].flat();') },
  'array flat generic': { prepare: hole, loop: 'Array.prototype.flat.call(hole);' },
  'array sort': { prepare: list, loop: forever('list.reverse(); list.sort();') },
  'array sort compare': { prepare: list, loop: forever('list.sort(() => 0.5 - Math.random());') },
  'array toSorted': { prepare: list, loop: forever('list.toSorted();') },
  'array toReversed': { prepare: list, loop: forever('list.toReversed();') },
  'array with': { prepare: list, loop: forever('list.with(0, 1);') },
  'array from': { loop: 'Array.from({ length: 2 ** 31 });' },
  'array from list': { prepare: list, loop: forever('Array.from(list);') },
  'array spread': { prepare: list, loop: forever('[...list];') },
  'array every native': { prepare: hole, loop: 'Array.prototype.every.call(hole, Boolean);' },
  'array length': {
    prepare: 'const sparse = []; sparse[4_000_000_000] = 1; for (let i = 0; i < 500_000; i++) sparse[i * 7919] = i;',
    loop: forever('const copy = { ...sparse };'),
  },

  'string indexOf': { prepare: big, loop: forever('text.indexOf("abcdefghik");') },
  'string indexOf wide': { prepare: wide, loop: forever('text.indexOf("abcdefghik");') },
  'string lastIndexOf': { prepare: big, loop: forever('text.lastIndexOf("abcdefghik");') },
  'string includes': { prepare: big, loop: forever('text.includes("bcdefghijj");') },
  'string indexOf worst': {
    prepare: "const text = 'a'.repeat(20_000_000); const needle = 'a'.repeat(50_000) + 'b';",
    loop: 'text.indexOf(needle);',
  },
  'string split': { prepare: big, loop: forever('text.split("j");') },
  'string split chars': { prepare: big, loop: forever('text.split("");') },
  'string replaceAll': { prepare: big, loop: forever('text.replaceAll("j", "k");') },
  'string repeat': { loop: forever('"ab".repeat(30_000_000);') },
  'string pad': { loop: forever('"".padStart(60_000_000, "abc");') },
  'string toUpperCase': { prepare: wide, loop: forever('text.toUpperCase();') },
  'string toUpperCase latin1': { prepare: big, loop: forever('text.toUpperCase();') },
  'string normalize': { prepare: wide, loop: forever('text.normalize("NFD");') },
  'string trim': { prepare: "const text = ' '.repeat(30_000_000);", loop: forever('text.trim();') },
  'string compare': {
    prepare: `${big} const other = 'abcdefghij'.repeat(3_000_000);`,
    loop: forever('text < other; text === other;'),
  },
  'string wellFormed': { prepare: wide, loop: forever('text.isWellFormed(); text.toWellFormed();') },
  'string spread': { prepare: big, loop: forever('[...text];') },
  'string localeCompare': { prepare: wide, loop: forever('text.localeCompare(text + "x");') },
  'string concat': { prepare: big, loop: forever('let t = text; t += "x"; t.charCodeAt(5);') },
  'string at by atom': { prepare: big, loop: forever('const o = {}; o[text + "x"] = 1;') },
  encodeURIComponent: { prepare: wide, loop: forever('encodeURIComponent(text);') },
  decodeURIComponent: { prepare: "const text = '%41'.repeat(10_000_000);", loop: forever('decodeURIComponent(text);') },
  escape: { prepare: wide, loop: forever('escape(text);') },
  parseFloat: { prepare: "const text = '1'.repeat(5_000_000);", loop: forever('parseFloat(text); Number(text);') },

  'bigint multiply': { prepare: 'const n = 3n ** 300_000n;', loop: forever('n * n;') },
  'bigint power': { loop: forever('7n ** 300_000n;') },
  'bigint divide': { prepare: 'const n = 3n ** 600_000n; const d = 3n ** 300_000n + 1n;', loop: forever('n / d;') },
  'bigint toString': { prepare: 'const n = 3n ** 600_000n;', loop: forever('n.toString();') },
  'bigint parse': { prepare: "const text = '7'.repeat(280_000);", loop: forever('BigInt(text);') },
  'bigint shift': { prepare: 'const n = 3n ** 600_000n;', loop: forever('n >> 1n; n + n; -n; n & n;') },

  'json parse': {
    prepare: "const text = '[' + '[1,2,{\"a\":\"b\"}],'.repeat(500_000) + '1]';",
    loop: forever('JSON.parse(text);'),
  },
  'json parse string': { prepare: "const text = JSON.stringify('a\\n'.repeat(50_000_000));", loop: forever('JSON.parse(text);') },
  'json stringify': {
    prepare: 'const data = Array.from({ length: 500_000 }, (_, i) => ({ i, s: "x" }));',
    loop: forever('JSON.stringify(data);'),
  },
  'json stringify string': { prepare: big, loop: forever('JSON.stringify(text);') },
  'json stringify deep': {
    prepare: 'let data = []; for (let i = 0; i < 5000; i++) data = [data];',
    loop: forever('JSON.stringify(data);'),
  },

  'regexp backtracking': { loop: '/(a+)+b/.exec("a".repeat(40));' },
  'regexp scan': { prepare: big, loop: forever('/k/.exec(text);') },
  'regexp global match': { prepare: big, loop: forever('text.match(/j/g);') },
  'regexp replace': { prepare: big, loop: forever('text.replace(/j/g, "k");') },
  'regexp split': { prepare: big, loop: forever('text.split(/j/);') },
  'regexp lookbehind': { prepare: big, loop: forever('/(?<=x.*)y/.exec(text);') },
  'regexp compile': { loop: forever('new RegExp("[" + "\\\\u{10000}-\\\\u{10ffff}".repeat(20_000) + "]", "u");') },

  'parse function': { prepare: "const source = 'x+1;'.repeat(2_000_000);", loop: forever('Function(source);') },
  'parse string literal': { prepare: `${big} const source = '"' + text + '"';`, loop: forever('(0, eval)(source);') },
  'parse comment': { prepare: `${big} const source = '/*' + text + '*/';`, loop: forever('(0, eval)(source);') },
  'parse array literal': { prepare: "const source = '[' + '1,'.repeat(5_000_000) + ']';", loop: forever('(0, eval)(source);') },
  'parse many functions': {
    prepare: "const source = 'function f(){ return 1 };'.repeat(300_000);",
    loop: forever('(0, eval)(source);'),
  },

  'typed array fill': { prepare: bytes, loop: forever('bytes.fill(1);') },
  'typed array fill doubles': { prepare: 'const list = new Float64Array(6_000_000);', loop: forever('list.fill(1.5);') },
  'typed array indexOf': { prepare: bytes, loop: forever('bytes.indexOf(7);') },
  'typed array includes double': { prepare: 'const list = new Float64Array(6_000_000);', loop: forever('list.includes(7);') },
  'typed array lastIndexOf': { prepare: bytes, loop: forever('bytes.lastIndexOf(7);') },
  'typed array reverse': { prepare: bytes, loop: forever('bytes.reverse();') },
  'typed array sort': {
    prepare: 'const list = Float64Array.from({ length: 3_000_000 }, Math.random);',
    loop: forever('list.slice().sort();'),
  },
  'typed array sort compare': {
    prepare: 'const list = Float64Array.from({ length: 1_000_000 }, Math.random);',
    loop: forever('list.slice().sort(Math.sign);'),
  },
  'typed array join': { prepare: bytes, loop: forever('bytes.join();') },
  'typed array set': { prepare: `${bytes} const other = new Float32Array(10_000_000);`, loop: forever('bytes.set(other);') },
  'typed array slice': { prepare: bytes, loop: forever('bytes.slice();') },
  'typed array copyWithin': { prepare: bytes, loop: forever('bytes.copyWithin(0, 1);') },
  'typed array from array': { prepare: list, loop: forever('new Float64Array(list);') },
  'typed array convert': { prepare: bytes, loop: forever('new Float64Array(bytes.subarray(0, 6_000_000));') },
  'typed array toHex': {
    prepare: 'const bytes = new Uint8Array(20_000_000);',
    loop: forever('bytes.toHex(); bytes.toBase64();'),
  },
  'array buffer new': { loop: forever('new Uint8Array(50_000_000);') },

  'map fill': { loop: 'const m = new Map(); for (let i = 0; ; i++) m.set(i % 5_000_000, i);' },
  'map clear': { prepare: 'let m = new Map(); for (let i = 0; i < 1_500_000; i++) m.set(i, i);', loop: 'm.clear(); for (;;) {}' },
  'set difference': {
    prepare:
      'const a = new Set(Array.from({ length: 800_000 }, (_, i) => i)); ' +
      'const b = new Set(Array.from({ length: 800_000 }, (_, i) => i + 1));',
    loop: forever('a.difference(b); a.union(b); a.intersection(b); a.isSubsetOf(b);'),
  },
  'map groupBy': { prepare: list, loop: forever('Map.groupBy(list, Number);') },
  'map copy': { prepare: 'const m = new Map(); for (let i = 0; i < 800_000; i++) m.set(i, i);', loop: forever('new Map(m);') },
  'object keys': { prepare: 'const o = {}; for (let i = 0; i < 500_000; i++) o["k" + i] = i;', loop: forever('Object.keys(o);') },
  'object assign': {
    prepare: 'const o = {}; for (let i = 0; i < 300_000; i++) o["k" + i] = i;',
    loop: forever('Object.assign({}, o);'),
  },
  'object entries': {
    prepare: 'const o = {}; for (let i = 0; i < 300_000; i++) o["k" + i] = i;',
    loop: forever('Object.fromEntries(Object.entries(o));'),
  },
  'object freeze': {
    prepare: 'const o = {}; for (let i = 0; i < 500_000; i++) o["k" + i] = i;',
    loop: forever('Object.freeze(o);'),
  },
  apply: { prepare: 'const list = new Array(60_000).fill(1);', loop: forever('Math.max.apply(null, list);') },
  fromCharCode: { prepare: 'const list = new Array(60_000).fill(65);', loop: forever('String.fromCharCode(...list);') },
  'iterator helpers': { loop: 'Iterator.from({ next() { return { value: 1 }; } }).drop(Infinity).next();' },
  'native callbacks': { prepare: list, loop: forever('list.map(Number).filter(Boolean);') },
  'function toString': { prepare: `${big} const f = Function('/*' + text + '*/');`, loop: forever('f.toString();') },
  'error stacks': { loop: forever('new Error("x").stack;') },
};
