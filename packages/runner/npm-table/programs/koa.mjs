// koa: middleware in both directions, over loopback.

import { once } from 'node:events';
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
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
const asked = get({ host: '127.0.0.1', port: server.address().port, path: '/a/b', headers: { accept: 'text/html' } });
const [response] = await once(asked, 'response');
console.log(response.statusCode, response.headers['x-order'], response.headers['content-type'], await text(response));
server.closeAllConnections();
server.close();
