// koa: middleware in both directions, over loopback.

import { once } from 'node:events';
import Koa from 'koa';

const app = new Koa();
const order = [];
app.use(async (context, next) => {
  order.push('in');
  await next();
  order.push('out');
  context.set('x-order', order.join());
});
app.use((context) => {
  context.body = { path: context.path, type: context.accepts('json', 'html') };
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const response = await fetch(`http://127.0.0.1:${server.address().port}/a/b`, { headers: { accept: 'text/html' } });
console.log(response.status, response.headers.get('x-order'), await response.json());
server.closeAllConnections();
server.close();
