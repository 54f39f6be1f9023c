// The groups of Node's tests: the second word of a file's name (`test-fs-open.js` → fs), and the
// groups that run by default. The default groups cover the features of a program on one machine.
// The other groups need threads, a debugger or a build of Node.

export const GROUPS = [
  ...['path', 'events', 'event', 'eventtarget', 'util', 'assert', 'buffer', 'querystring', 'string', 'url', 'whatwg'],
  ...['stream', 'stream2', 'stream3', 'timers', 'next', 'microtask', 'async', 'promise', 'promises', 'readline', 'console'],
  ...['os', 'process', 'global', 'module', 'require', 'internal', 'fs', 'file', 'filehandle', 'blob', 'abortcontroller'],
  ...['errors', 'error', 'webstream', 'webstreams', 'diagnostics', 'performance', 'perf', 'mime', 'punycode', 'stdin'],
  ...['stdout', 'vm', 'http', 'http2', 'net', 'zlib', 'child', 'tls', 'https', 'dns'],
];

/**
 * Returns the group of a file, `fs` for `test-fs-open.js`. Returns undefined for a file that is no
 * test.
 */
export const groupOf = (file) => /^test-([a-z0-9]+)/.exec(file)?.[1];
