// `process.stdin`, `stdout` and `stderr` of a process whose descriptors differ from the image's,
// such as pipes of a child. The streams are replaced at the first access: the image holds the
// streams that nearly every program needs, and `console.log` does not read the properties. A child
// whose program reads a stream receives Node's own stream for the descriptor's kind. Next:
// console-log.js, which calls Node's method when the streams differ.
'use strict';

const context = require('../context.js');
const { NUMBERS, sys } = require('../fs/calls.js');
const { FILE_KIND } = require('../net/calls.js');

// Makes the three properties check the descriptors at the first access. `onReset` is called if this
// process needs other streams than the image has.
function install(onReset) {
  const { process } = context;
  const { resetStdioForTesting } = context.internalBinding('process_methods');
  let settled = false;
  const settle = () => {
    const kinds = [1, 2].map((fd) => sys(NUMBERS.kind, fd));
    // Without a kernel, the image is being made.
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
