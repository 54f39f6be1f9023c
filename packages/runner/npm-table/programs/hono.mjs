// hono: routing and middleware over web requests.

import { Hono } from 'hono';
import { etag } from 'hono/etag';

const app = new Hono();
app.use('/cached/*', etag());
app.get('/cached/page', (context) => context.html('<p>page</p>'));
app.get('/user/:id{[0-9]+}', (context) => context.json({ id: Number(context.req.param('id')) }));
app.post('/form', async (context) => context.text(JSON.stringify(await context.req.parseBody())));
const show = async (response) => console.log(response.status, response.headers.get('content-type'), await response.text());
await show(await app.request('/user/12'));
await show(await app.request('/user/x'));
await show(await app.request('/form', { method: 'POST', body: new URLSearchParams({ a: '1', b: 'two' }) }));
console.log((await app.request('/cached/page')).headers.get('etag'));
