// js-yaml: loading, dumping and errors with positions.

import * as yaml from 'js-yaml';

const text = `
base: &base {a: 1, b: [x, "y"]}
copy:
  <<: *base
  c: |
    two
    lines
date: 2024-02-29
hex: 0x1F
none: ~
list:
  - !!str 12
  - - nested
`;
const value = yaml.load(text);
console.log(value);
console.log(yaml.dump({ a: [1, { b: 'x: y' }], long: 'word '.repeat(30), n: null, t: true }));
try {
  yaml.load('a: [1, 2');
} catch (error) {
  console.log(error.name, error.reason, error.mark.line);
}
