// immutable: persistent collections.

import * as I from 'immutable';

const { fromJS, is, List, Map: Dictionary, OrderedMap, Range, Record, Set: Bag } = I;

const deep = fromJS({ a: { b: [1, 2, { c: 3 }] } });
console.log(deep.setIn(['a', 'b', 2, 'c'], 9).toJS(), deep.getIn(['a', 'b', 1]), String(deep));
console.log(
  is(Dictionary({ a: List([1]) }), Dictionary({ a: List([1]) })),
  Bag([1, 2]).union([2, 3]).size,
  Range(1, 100, 7).take(4).toArray(),
);
const Point = Record({ x: 0, y: 0 });
console.log(
  String(new Point({ x: 5 })),
  OrderedMap([
    ['z', 1],
    ['a', 2],
  ])
    .map((v) => v * 2)
    .keySeq()
    .join(),
);
console.log(
  List(Array.from({ length: 1000 }, (_v, i) => i))
    .filter((n) => n % 3 === 0)
    .reduce((a, b) => a + b, 0),
  Dictionary({ b: 1, a: 2 })
    .sortBy((v) => -v)
    .toString(),
);
