// qs: nested query strings.

import qs from 'qs';

console.log(qs.parse('a[b][c]=1&d[]=x&d[]=y&e=%E2%9C%93&f.g=2&h', { allowDots: true, strictNullHandling: true }));
console.log(
  qs.stringify({ a: { b: [1, { c: 2 }] }, d: null, e: undefined, f: new Date(0) }),
  qs.stringify({ a: ['x', 'y'] }, { arrayFormat: 'brackets', encode: false }),
);
console.log(
  qs.parse('?a=1;b=2', { delimiter: ';', ignoreQueryPrefix: true }),
  qs.stringify({ b: 1, a: 2 }, { sort: (x, y) => x.localeCompare(y), addQueryPrefix: true }),
);
