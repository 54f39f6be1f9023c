// Cases whose text is not V8's, with the reason. The test fails if such a text has become equal, so
// that the list stays true.
const NO_FOLDING = 'the engine folds no constants';
const CAUSE_UNKNOWN = 'the builtin that throws does not know which of its callers passed the value';
const SANDBOX = 'the recording ran in a vm context, whose global object has no constructor';
const GRAMMAR = 'the parser detects the error at another place of the grammar';
const DETAIL = 'a rare text that needs facts that the throw site lacks';

export const knownDifferences = new Map([
  ['var o = []; o[1 + 1]()', NO_FOLDING],
  ['Reflect.apply(1)', CAUSE_UNKNOWN],
  ['Function.prototype.call.call(1)', CAUSE_UNKNOWN],
  ['Reflect.construct(1)', CAUSE_UNKNOWN],
  ['"use strict"; undefined = 1', SANDBOX],
  ['"use strict"; NaN = 1', SANDBOX],
  ['new Proxy(Object.freeze({ a: 1 }), { get() { return 2; } }).a', DETAIL],
  ['class A { get #g() { return 1; } t() { this.#g = 1; } } new A().t()', DETAIL],
  ['var f = () => {}; f(...undefined)', DETAIL],
  ['Array.from({ [Symbol.iterator]: 5 })', DETAIL],
  ['var it = { [Symbol.iterator]() { return {}; } }; [...it]', DETAIL],
  ['2n ** -1n', "V8's text is broken here"],
  ['Promise.resolve.call(1)', DETAIL],
  ['Function.prototype.toString.call({})', DETAIL],
  ['new DataView(1)', DETAIL],
  ['Atomics.add([], 0, 1)', DETAIL],
  ['(function* () {})().next.call({})', DETAIL],
  ['function (', GRAMMAR],
  ['"\\u{110000}"', DETAIL],
  ['f() = 1', 'an early error here, an error at run time in V8 (web compatibility)'],
  ['({ ...{ a } } = {})', GRAMMAR],
  ['new a?.b()', GRAMMAR],
  ['label: function* g() {}', GRAMMAR],
  ['delete this.#a', GRAMMAR],
  ['const { a: } = x', GRAMMAR],
  ['for (let i = 0, i < 5, i++) {}', GRAMMAR],
]);
