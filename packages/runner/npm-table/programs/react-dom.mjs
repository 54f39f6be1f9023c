// react-dom: rendering components on the server, to text and to a stream.

import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createElement as h, Suspense, use, useId, useMemo, useState } from 'react';
import { renderToPipeableStream, renderToStaticMarkup, renderToString } from 'react-dom/server';

function Counter({ start }) {
  const [count] = useState(start);
  const double = useMemo(() => count * 2, [count]);
  return h('p', { id: useId(), className: 'c', style: { marginTop: 4 } }, count, ' & ', double);
}
const list = h(
  'ul',
  null,
  ['a', '<b>'].map((key) => h('li', { key, 'data-x': 1 }, key)),
);
console.log(renderToStaticMarkup(h('div', null, h(Counter, { start: 2 }), list)));
console.log(renderToString(h(Counter, { start: 5 })));
const later = new Promise((resolve) => setTimeout(resolve, 2, 'later'));
const Waiting = () => h('b', null, use(later));
const out = new PassThrough();
const stream = renderToPipeableStream(h(Suspense, { fallback: 'wait' }, h(Waiting)), { onAllReady: () => stream.pipe(out) });
console.log(await text(out));
