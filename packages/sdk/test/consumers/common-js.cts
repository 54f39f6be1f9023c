// Loads the package in a CommonJS module: with `import()`, which works in every supported Node, and
// with `require()`, which the compiler accepts for versions of Node that load ES modules so.

import coldframe = require('coldframe');

export const required: typeof coldframe.NodeRuntime = coldframe.NodeRuntime;

export async function imported(): Promise<typeof coldframe.NodeRuntime> {
  return (await import('coldframe')).NodeRuntime;
}
