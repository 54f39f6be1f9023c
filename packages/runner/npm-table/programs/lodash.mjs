// lodash: collections, deep values, templates and debounce.

import _ from 'lodash';

console.log(_.groupBy([6.1, 4.2, 6.3], Math.floor), _.chunk(['a', 'b', 'c', 'd'], 3));
console.log(_.merge({ a: [{ b: 2 }, { d: 4 }] }, { a: [{ c: 3 }, { e: 5 }] }));
console.log(
  _.orderBy(
    [
      { u: 'f', a: 48 },
      { u: 'b', a: 34 },
      { u: 'f', a: 40 },
    ],
    ['u', 'a'],
    ['asc', 'desc'],
  ),
);
console.log(_.camelCase('--foo-bar--'), _.kebabCase('fooBar'), _.deburr('déjà vu'), _.words('fred, barney, & pebbles'));
console.log(_.template('hello <%- user %>!')({ user: '<b>' }), _.isEqual({ a: [1, new Date(0)] }, { a: [1, new Date(0)] }));
const copy = _.cloneDeep({ map: new Map([[1, { x: 1 }]]), set: new Set([1]), re: /x/gi });
console.log(copy, _.get(copy, 'map'), _.set({}, 'a[0].b', 1));
let calls = 0;
const debounced = _.debounce(() => console.log('debounced', ++calls), 10);
debounced();
debounced();
console.log(
  _([1, 2, 3, 4])
    .filter((n) => n % 2)
    .map((n) => n * n)
    .value(),
);
