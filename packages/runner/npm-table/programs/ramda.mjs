// ramda: composed functions.

import * as R from 'ramda';

const average = R.converge(R.divide, [R.sum, R.length]);
console.log(
  average([1, 2, 3, 4]),
  R.pipe(R.filter(R.propEq(true, 'done')), R.pluck('id'), R.join('-'))([{ id: 1, done: true }, { id: 2 }, { id: 3, done: true }]),
);
console.log(
  R.over(R.lensPath(['a', 0, 'b']), R.inc, { a: [{ b: 1 }] }),
  R.groupBy(R.head, ['ab', 'ac', 'b']),
  R.curry((a, b, c) => a + b + c)(1)(R.__, 3)(2),
);
console.log(
  R.equals({ a: [1, { b: NaN }] }, { a: [1, { b: NaN }] }),
  R.transpose([
    [1, 2],
    [3, 4],
  ]),
  R.toString({ a: new Date(0), b: /x/ }),
);
console.log(
  R.into([], R.compose(R.map(R.multiply(2)), R.take(3)), R.range(0, 100)),
  R.sortWith([R.descend(R.prop('x'))], [{ x: 1 }, { x: 2 }]),
);
