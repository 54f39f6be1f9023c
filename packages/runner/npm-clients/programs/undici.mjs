// undici: requests, `fetch`, pools, pipelines, trailers, aborts, malformed responses, events and
// WebSocket.
import { createHash } from 'node:crypto';
import { Agent, Client, EventSource, FormData, fetch, interceptors, Pool, request, stream, WebSocket } from 'undici';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const server = process.env.SERVER;

const json = await request(`${server}/json?a=b`);
console.log('request', json.statusCode, (await json.body.json()).url);
const fetched = await fetch(`${server}/redirect`);
console.log('fetch', new URL(fetched.url).pathname, (await fetched.json()).method);
const redirecting = new Agent().compose(interceptors.redirect({ maxRedirections: 3 }));
console.log('redirect', (await (await request(`${server}/redirect`, { dispatcher: redirecting })).body.json()).url);
await redirecting.close();
for (const encoding of ['gzip', 'br', 'deflate']) {
  const text = await (await fetch(`${server}/encoded`, { headers: { 'accept-encoding': encoding } })).text();
  console.log(encoding, text.length, digest(text));
}
const large = Buffer.from(await (await request(`${server}/large?bytes=8000000`)).body.arrayBuffer());
console.log('large', large.length, digest(large));
const hash = createHash('sha256');
await stream(`${server}/large?bytes=3000000`, { opaque: hash }, ({ opaque }) => opaque);
console.log('stream', hash.digest('hex').slice(0, 16));
console.log(
  'upload',
  await (await request(`${server}/digest`, { method: 'POST', body: Buffer.alloc(5_000_000, 'u') })).body.text(),
);
const form = new FormData();
form.set('field', 'value');
console.log('form', (await (await fetch(`${server}/echo`, { method: 'POST', body: form })).text()).includes('name="field"'));
const trailers = await request(`${server}/trailers`);
console.log('trailers', await trailers.body.text(), trailers.trailers);

const pool = new Pool(server, { connections: 4 });
const many = await Promise.all(Array.from({ length: 40 }, (_, n) => pool.request({ path: `/json?${n}`, method: 'GET' })));
const used = new Set(many.map(({ headers }) => headers['x-connection']));
const bodies = await Promise.all(many.map(({ body }) => body.json()));
console.log(
  'pool',
  used.size <= 4,
  bodies.every(({ url }, n) => url === `/json?${n}`),
);
await pool.close();

const client = new Client(server, { pipelining: 8 });
const piped = await Promise.all(
  Array.from({ length: 16 }, async (_, n) => (await client.request({ path: `/json?${n}`, method: 'GET' })).body.json()),
);
console.log('pipeline', piped.map(({ url }) => url).join(' ') === Array.from({ length: 16 }, (_, n) => `/json?${n}`).join(' '));
await client.close();

const controller = new AbortController();
const aborted = request(`${server}/never`, { signal: controller.signal });
await (await request(`${server}/until-never`)).body.text();
controller.abort();
await aborted.catch(({ name }) => console.log('abort', name));
await (await request(`${server}/until-aborted`)).body.text();
await request(`${server}/never`, { headersTimeout: 50 }).catch(({ code }) => console.log('timeout', code));
await request(`${server}/reset`).catch(({ code }) => console.log('reset', code));
const cut = await request(`${server}/reset-body`);
await cut.body.text().catch(({ code }) => console.log('reset in the body', code));
await request(`${server}/malformed`).catch(({ name, code }) => console.log('malformed', name, code));

process.removeAllListeners('warning'); // EventSource warns that it is experimental.
const events = new EventSource(`${server}/events?to=3`);
const seen = await new Promise((resolve) => {
  const all = [];
  events.onmessage = ({ data }) => {
    all.push(data);
    if (all.length === 3) resolve(all);
    else fetch(`${server}/next`);
  };
});
events.close();
console.log('events', ...seen);

const socket = new WebSocket(process.env.SOCKET);
await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }));
socket.send('hello');
console.log('socket', (await new Promise((resolve) => socket.addEventListener('message', resolve, { once: true }))).data);
const closed = new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }));
socket.close(1000);
console.log('closed', (await closed).code);
