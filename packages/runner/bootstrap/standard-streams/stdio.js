// What: `process.stdin`, `stdout` and `stderr` of a process whose descriptors are not what the image was made with: a child's pipes.
// Why at the first access: the image holds the streams that nearly every program has, ready made, and `console.log` writes without asking for
// them. A child whose program looks at a stream gets Node's own for what its descriptors are.
// Next: console-log.js, whose short way ends when the streams are others.
'use strict';

const context = require('../context.js');
const { NUMBERS, sys } = require('../fs/calls.js');
const { FILE_KIND } = require('../net/calls.js');

// `onReset`: the streams of the image are not this process's.
function install(onReset) {
  const { process } = context;
  const { resetStdioForTesting } = context.internalBinding('process_methods');
  let settled = false;
  const settle = () => {
    const kinds = [1, 2].map((fd) => sys(NUMBERS.kind, fd));
    // No kernel: the image is being made.
    if (kinds[0] < 0) return;
    settled = true;
    if (kinds.every((kind) => kind === FILE_KIND)) return;
    resetStdioForTesting();
    onReset();
  };
  for (const name of ['stdin', 'stdout', 'stderr']) {
    const { get, set, ...attributes } = Object.getOwnPropertyDescriptor(process, name);
    Object.defineProperty(process, name, {
      ...attributes,
      set,
      get: {
        get() {
          if (!settled) settle();
          return get.call(process);
        },
      }.get,
    });
  }
}

module.exports = { install };
