// Runs before the freeze: makes the objects of the image that random programs use and change, and
// describes a program's world. The prelude runs in V8 too, which defines the correct result.

globalThis.makeWorld = () => {
  class Point {
    #hidden = 1;
    constructor(x, y) {
      this.x = x;
      this.y = y;
    }
    get sum() {
      return this.x + this.y + this.#hidden;
    }
    bump() {
      this.#hidden++;
      return this;
    }
  }
  class Point3 extends Point {
    constructor(x, y, z) {
      super(x, y);
      this.z = z;
    }
  }
  const counter = () => {
    let count = 0;
    const seen = [];
    return { next: () => ++count, seen: (value) => seen.push(value) && seen.length };
  };
  function* numbers() {
    for (let i = 0; ; i++) yield i;
  }
  const shared = { kind: 'shared' };
  const generator = numbers();
  generator.next();
  return {
    text: 'shared text '.repeat(3),
    wide: 'wide \u4e16\u754c ',
    rope: `${'a'.repeat(300)}${'b'.repeat(300)}`,
    empty: {},
    same: [
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ],
    many: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i])),
    list: [1, 2, 3, 4, 5],
    nested: [[1], [2, [3, shared]], shared],
    holes: Object.assign([], { 0: 1, 2: 3 }),
    doubles: [1.5, -0, NaN],
    strings: ['x', 'y', 'shared text '],
    map: new Map([
      ['a', 1],
      [shared, 2],
      [3, 'three'],
    ]),
    set: new Set(['a', shared, 3]),
    weak: new WeakMap([[shared, 'weak']]),
    bytes: new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]),
    floats: new Float64Array([1.5, 2.5]),
    date: new Date(86_400_000),
    regexp: /(a+)(?<tail>b)?/g,
    error: Object.assign(new TypeError('from the image'), { extra: shared }),
    bound: function (...args) {
      return [this, ...args].length;
    }.bind(shared, 1),
    symbol: Symbol('image'),
    big: 2n ** 80n,
    frozen: Object.freeze({ deep: { changes: 1 }, flat: 1 }),
    accessor: Object.defineProperty({ v: 1 }, 'double', {
      get() {
        return this.v * 2;
      },
      set(x) {
        this.v = x / 2;
      },
      enumerable: true,
      configurable: true,
    }),
    proxy: new Proxy({ p: 1 }, { get: (target, key) => (key in target ? target[key] : `no ${String(key)}`) }),
    promise: Promise.resolve(shared),
    point: new Point(1, 2),
    point3: new Point3(1, 2, 3),
    Point,
    Point3,
    shared,
    generator,
    iterator: [10, 20, 30][Symbol.iterator](),
    counter: counter(),
    other: counter(),
    args: (function () {
      // biome-ignore lint/complexity/noArguments: the test needs the exotic object
      return arguments;
    })(1, 'two', shared),
  };
};

/**
 * Returns a text that describes all objects reachable from `root`. Getters of the program do not
 * run.
 */
globalThis.describeWorld = (root) => {
  try {
    return describe(root);
  } catch (error) {
    // the program has changed Array.prototype or a similar object
    return `cannot be described: ${error.name}`;
  }
};

const describe = (root) => {
  const seen = new Map();
  const lines = [];
  const show = (value, depth) => {
    if (typeof value === 'string')
      return JSON.stringify(value.length > 60 ? `${value.slice(0, 30)}…${value.length}…${value.slice(-30)}` : value);
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'symbol') return value.toString();
    if (Object.is(value, -0)) return '-0';
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return String(value);
    if (seen.has(value)) return `#${seen.get(value)}`;
    seen.set(value, seen.size);
    if (typeof value === 'function')
      return `function ${value.name}${properties(value, depth, ['length', 'name', 'prototype', 'arguments', 'caller'])}`;
    if (depth > 6) return 'deep';
    const tag = Object.prototype.toString.call(value);
    let extra = '';
    try {
      if (value instanceof Map)
        extra = [...Map.prototype.entries.call(value)].map(([k, v]) => `${show(k, depth + 1)}=>${show(v, depth + 1)}`).join();
      else if (value instanceof Set) extra = [...Set.prototype.values.call(value)].map((v) => show(v, depth + 1)).join();
      else if (value instanceof Date) extra = String(Date.prototype.getTime.call(value));
      else if (value instanceof RegExp) extra = `${value.source}/${value.flags}/${value.lastIndex}`;
    } catch (error) {
      extra = error.name; // the object only inherits from an object of that kind
    }
    return `#${seen.size - 1}${tag}(${extra})${properties(value, depth, ['stack'])}`;
  };
  const properties = (value, depth, skipped) => {
    const parts = [];
    for (const key of Reflect.ownKeys(value)) {
      if (skipped.includes(key)) continue;
      const d = Reflect.getOwnPropertyDescriptor(value, key);
      if (d === undefined) continue;
      const flags = `${d.writable ? 'w' : ''}${d.enumerable ? 'e' : ''}${d.configurable ? 'c' : ''}`;
      parts.push(`${String(key)}:${flags}:${'value' in d ? show(d.value, depth + 1) : `get ${typeof d.get}`}`);
    }
    const frozen = Object.isExtensible(value) ? '' : '!';
    return `{${parts.join(';')}}${frozen}`;
  };
  for (const key of Reflect.ownKeys(root)) lines.push(`${String(key)} ${show(root[key], 0)}`);
  return lines.join('\n');
};
