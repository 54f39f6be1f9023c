// Generates random programs over the objects of prelude.js. Equal seeds make equal programs. The
// programs test one property: every check "may this block be changed in place" is right for blocks
// of the image. The programs therefore append to shared strings, grow shared arrays and maps, and
// add properties to objects with shared shapes. The programs also change prototypes and use
// closures and iterators.

import { LANGUAGE } from './language.mjs';

/** Returns a generator of random numbers (mulberry32). */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ARRAYS = ['w.list', 'w.nested', 'w.holes', 'w.doubles', 'w.strings', 'w.same', 'w.nested[1]', 'local.array'];
const OBJECTS = [
  'w.empty',
  'w.same[0]',
  'w.same[1]',
  'w.many',
  'w.shared',
  'w.frozen',
  'w.frozen.deep',
  'w.point',
  'w.point3',
  'w.error',
  'w.accessor',
  'w.args',
  'w.list',
  'w.map',
  'w.date',
  'w.Point',
  'w.Point.prototype',
  'w.bound',
  'w.regexp',
  'local.object',
  'w',
  'Array.prototype',
  'Object.prototype',
  'w.counter',
];
const STRINGS = ['w.text', 'w.wide', 'w.rope', 'w.strings[0]', 'w.strings[2]', 'local.text', 'w.shared.kind'];
/**
 * The objects without Object.prototype and Array.prototype. The engine's fast arrays do not look
 * for accessors of an index on these prototypes.
 */
const PLAIN = OBJECTS.filter((name) => name !== 'Object.prototype' && name !== 'Array.prototype');
const KEYS = ['a', 'b', 'x', 'k3', 'k39', 'fresh', '0', '2', '7', 'kind', 'length', 'sum', 'name'];
const VALUES = [
  '1',
  '-0',
  '2.5',
  '"v"',
  'null',
  'undefined',
  'w.shared',
  'w.text',
  '{}',
  '[]',
  '{ a: 1, b: 2 }',
  '[w.shared, 1]',
  '() => 7',
  'w.many',
  'w.big',
  'w.symbol',
  'local.text',
  'w.point',
  'true',
  'NaN',
];

const TEMPLATES = [
  '$S += String($V).slice(0, 300)',
  'local.text = $S; local.text += "tail"; local.text += local.text.length',
  'local.text = ($S + $S).slice(0, 900); local.text.indexOf("shared")',
  'local.text = $S.slice($N, $M).concat($S).toUpperCase()',
  'local.text = $S.split("a", 9).join($S).slice(0, 700)',
  'print($S.slice(0, 99).replace(/t(e)x/g, (m) => m + $S.length))',
  'w.strings = w.strings.map((s) => s + "!")',
  'local.text = String.prototype.padEnd.call($S, 80, $S).trim()',
  '$A.push($V)',
  '$A.push($V, $V, $V); $A.pop()',
  'print($A.shift())',
  '$A.unshift($V)',
  'print($A.splice($N, $M, $V).length)',
  '$A.length = $N',
  '$A[$N] = $V',
  '$A[Math.min($A.length, 50)] = $V',
  'delete $A[$N]',
  '$A.sort((x, y) => (String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0))',
  '$A.reverse()',
  '$A.fill($V, $N, $M)',
  '$A.copyWithin($N, $M)',
  'local.array = [...$A, ...$A].slice(0, 30); local.array.push($V)',
  'local.array = $A.concat($A).slice($N, 30)',
  'local.array = $A; local.array.push($V)',
  'print($A.map((v) => typeof v).join())',
  'print($A.flat(2).length, $A.includes($V), $A.indexOf($V))',
  'local.array = Array.from($A, (v) => v); local.array[$N] = $V',
  'for (const v of $A) { if ($A.length < 20) $A.push($V); else break; }',
  '$O["$K"] = $V',
  '$O["fresh$N"] = $V',
  'delete $O["$K"]',
  '$O[w.symbol] = $V',
  'local.object = { ...$O }; local.object["$K"] = $V',
  'local.object = $O; local.object["$K"] = $V',
  'Object.defineProperty($P, "$K", { value: $V, writable: true, configurable: true })',
  'Object.defineProperty($P, "$K", { get() { return 5; }, configurable: true })',
  'Object.assign($O, { $K: $V, other: $V })',
  'Object.setPrototypeOf(local.object, $O)',
  'local.object = Object.create($O, { own: { value: $V, enumerable: true } })',
  'Object.freeze($O)',
  'Object.preventExtensions($O)',
  'print(Object.keys($O).join(), "$K" in $O)',
  'print(JSON.stringify(Object.entries($O).map(([k, v]) => [k, typeof v])))',
  'for (const k in $O) { if (k === "$K") delete $O[k]; }',
  'for (let i = 0; i < 10; i++) $O["p" + i] = i',
  'w.map.set($V, $V)',
  'w.map.delete("a"); w.map.set("b", $V)',
  'for (const [k] of w.map) { if (w.map.size < 8) w.map.set(w.map.size, k); }',
  'w.map.clear(); w.map.set($V, 1)',
  'local.object = new Map(w.map); local.object.set(w.shared, $V)',
  'w.set.add($V); w.set.delete(3); print(w.set.size)',
  'w.weak.set($O, $V); print(w.weak.has($O), w.weak.has(w.shared))',
  'w.weak.delete(w.shared)',
  'w.bytes[$N] = $M; w.bytes.set([9, 8], 2)',
  'w.bytes.subarray($N).fill($M)',
  'w.floats[0] += 1; print(w.floats.join())',
  'w.bytes = w.bytes.slice(1); w.bytes.reverse()',
  'w.date.setDate($N)',
  'print(w.regexp.exec("aab aaab ab")?.groups?.tail, w.regexp.lastIndex)',
  'w.regexp.lastIndex = $N',
  'print("aabxab".match(w.regexp)?.join())',
  'print(w.counter.next(), w.counter.seen($V), w.other.next())',
  'print(w.generator.next().value)',
  'print(JSON.stringify(w.iterator.next()))',
  'print(w.bound($V), w.bound.name)',
  'print(w.point.bump().sum, w.point3.sum)',
  'w.point.constructor.prototype.added = function () { return this.x; }; print(w.point3.added())',
  'local.object = new w.Point3($N, $M, 3); local.object["$K"] = $V',
  'local.object = new w.Point(w.text, $V); print(typeof local.object.sum)',
  'print(w.accessor.double); w.accessor.double = $M',
  'print(String(w.proxy.p), String(w.proxy.q)); w.proxy.p = $V',
  'w.promise.then((v) => { v.late = $V; print("then", v.kind); })',
  'Promise.all([w.promise, $V]).then((v) => print("all", v.length))',
  '(async () => { const v = await w.promise; v.count = (v.count ?? 0) + 1; print("async", v.count); })()',
  'w.error.message += "!"; print(w.error.message)',
  'throw w.error',
  'w.args[0] = $V; print(w.args.length)',
  '[w.same[0], w.same[1]] = [w.same[1], w.same[0]]',
  'const { a, ...rest } = $O; local.object = rest',
  'w.nested[2] === w.shared && print("same"); w.nested = structured(w.nested)',
  'local.object = JSON.parse(JSON.stringify(w.same)); local.object[0].a = $V',
  'w.empty = { __proto__: $O }',
  'Array.prototype.last = function () { return this[this.length - 1]; }; print(typeof $A.last())',
  'Object.prototype.inherited = 1; print(w.empty.inherited); delete Object.prototype.inherited',
  'print(w.big * 3n, w.big - 1n)',
  'local.fns = $A.map((v, i) => () => (i += 1)); print(local.fns.map((f) => f() + f()).join())',
  'with_($O, (o) => { o["$K"] = $V; return o; })',
  'w.text = w.rope + w.text.slice(0, 99); w.rope = w.text.slice(9, 700); w.text += "z"',
  'let s = $S; for (let i = 0; i < 20; i++) s += i; local.text = s; s += "x"; print(s.length, local.text.length)',
  'let t = ""; for (const part of w.strings) { t += part; w.text += String(part).slice(0, 50); } print(t.length)',
  'print(parseInt($S), Number($V), String($V).length)',
  'w.list = w.list.with(0, $V).toSorted().toSpliced(1, 1)',
];

const pick = (random, list) => list[Math.floor(random() * list.length)];

/**
 * Fills the placeholders of a statement. All placeholders for arrays receive one array, because a
 * loop over an array's length must use the array that grows.
 */
function fill(template, random) {
  const array = pick(random, ARRAYS);
  return template.replace(/\$([A-Z])/g, (_, kind) => {
    switch (kind) {
      case 'S':
        return pick(random, STRINGS);
      case 'A':
        return array;
      case 'O':
        return pick(random, OBJECTS);
      case 'P':
        return pick(random, PLAIN);
      case 'K':
        return pick(random, KEYS);
      case 'V':
        return pick(random, VALUES);
      default:
        return String(Math.floor(random() * 8));
    }
  });
}

const MOST_STATEMENTS = 24;
const LANGUAGE_SHARE = 0.4;

/** Returns a script over `w` (the world), `local` and `print`. */
export function generateProgram(seed) {
  const random = randomFrom(seed);
  const lines = [];
  const count = 3 + Math.floor(random() * MOST_STATEMENTS);
  for (let i = 0; i < count; i++) {
    const statement = fill(pick(random, random() < LANGUAGE_SHARE ? LANGUAGE : TEMPLATES), random);
    lines.push(`try { ${statement}; } catch (error) { print('error', error?.name ?? typeof error); }`);
  }
  return lines.join('\n');
}
