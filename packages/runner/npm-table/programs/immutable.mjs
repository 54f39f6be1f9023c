// immutable: persistent collections.

import { fromJS, is, List, Map, OrderedMap, Range, Record, Set } from 'immutable';

const deep = fromJS({ a: { b: [1, 2, { c: 3 }] } });
console.log(deep.setIn(['a', 'b', 2, 'c'], 9).toJS(), deep.getIn(['a', 'b', 1]), String(deep));
console.log(is(Map({ a: List([1]) }), Map({ a: List([1]) })), Set([1, 2]).union([2, 3]).size, Range(1, 100, 7).take(4).toArray());
const Point = Record({ x: 0, y: 0 });
console.log(String(new Point({ x: 5 })), OrderedMap([['z', 1], ['a', 2]]).map((v) => v * 2).keySeq().join());
console.log(List(Array.from({ length: 1000 }, (_v, i) => i)).filter((n) => n % 3 === 0).reduce((a, b) => a + b, 0), Map({ b: 1, a: 2 }).sortBy((v) => -v).toString());
