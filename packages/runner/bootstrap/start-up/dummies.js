// Small programs that run while the image is made. Node's work at a first use (lazy
// requires, caches, first shapes of objects) is then part of the image. The programs'
// output is discarded. A dummy program must not trigger a one-time action of Node, such
// as a deprecation warning, because no process would repeat the action. Next:
// preload.js.
'use strict';

const context = require('../context.js');

function run() {
  const { Writable } = context.requireBuiltin('stream');
  const sink = new Writable({
    write(chunk, encoding, done) {
      done();
    },
  });
  const console = new (context.requireBuiltin('console').Console)(sink, sink);
  for (const dummy of [printing, errors, ticking, text]) dummy(console);
  settle();
}

function printing(console) {
  console.log('%s %d %i %f %j %o %O %c', 'a', 1, 2, 3.5, { a: 1 }, [1], { b: 2 }, '');
  console.log({
    a: 1,
    b: 'text',
    c: [1, 2, 3],
    d: new Map([[1, { e: 2 }]]),
    f: new Set([1]),
    g: null,
    h: undefined,
    i: 10n,
    j: Symbol('k'),
  });
  console.log(
    [1.5, -0, true],
    new Date(0),
    /x/g,
    class A {},
    function f() {},
    new Uint8Array(2),
    Buffer.from('x'),
    Promise.resolve(1),
  );
  console.error(new TypeError('dummy'));
  console.table([{ a: 1 }]);
  console.group('group');
  console.groupEnd();
  console.dir({}, { depth: 1 });
  console.count();
}

function errors() {
  const { inspect } = context.requireBuiltin('util');
  inspect(new Error('dummy', { cause: new RangeError('cause') }));
  inspect(new AggregateError([new Error('one')], 'many'));
  try {
    context.requireBuiltin('path').join(1);
  } catch (error) {
    inspect(error);
  }
}

// Runs ticks, microtasks, contexts, and rejections that are handled in time.
function ticking() {
  const { AsyncLocalStorage } = context.requireBuiltin('async_hooks');
  const storage = new AsyncLocalStorage();
  storage.run({}, () => {
    context.process.nextTick(() => storage.getStore());
    queueMicrotask(() => {});
    Promise.reject(new Error('dummy')).catch(() => {});
  });
  const controller = new AbortController();
  controller.signal.addEventListener('abort', () => {});
  controller.abort();
}

function text() {
  Buffer.from('aGVsbG8=', 'base64').toString('hex');
  new TextDecoder().decode(new TextEncoder().encode('text'));
  new URL('../b?c=d#e', 'https://user:pass@example.com:8080/a/').searchParams.get('c');
  context.requireBuiltin('querystring').parse('a=b&c=d');
  structuredClone({ a: [new Date(0), new Map()] });
}

// Runs ticks and microtasks until none is due. Timers and immediates do not run.
function settle() {
  native.runMicrotasks();
  if (native.loop.tickInfo[0] !== 0 || native.loop.tickInfo[1] !== 0) context.tickCallback();
}

module.exports = { run, settle };
