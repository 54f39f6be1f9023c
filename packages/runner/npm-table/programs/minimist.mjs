// minimist: arguments.

import minimist from 'minimist';

console.log(minimist(['-x', '3', '-abc', '--beep=boop', '--no-color', '--n', '1e3', 'foo', '--', '--rest']));
console.log(
  minimist(['-n5', '--long', '007', '-v', '-v'], { string: 'long', boolean: ['v'], alias: { n: 'number' }, default: { d: 1 } }),
);
console.log(minimist(['--a.b', '2', '--', 'c'], { '--': true }), minimist(['--unknown'], { unknown: () => false }));
