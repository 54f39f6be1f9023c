// debug: namespaces that are on and off.

import debug from 'debug';

debug.enable('app:*,-app:secret');
const lines = [];
debug.log = (...args) =>
  lines.push(
    args
      .join(' ')
      .replace(/^\S+Z /, '')
      .replace(/ \+\d+ms/, ''),
  );
const log = debug('app:http');
log('hello %s %d %o', 'world', 42, { a: 1 });
debug('app:secret')('hidden');
debug('other')('hidden');
log.extend('inner')('deeper %j', [1]);
console.log(
  lines.map((line) => line.replaceAll(String.fromCharCode(27), '')),
  debug.enabled('app:x'),
  debug.disable(),
  log.enabled,
);
