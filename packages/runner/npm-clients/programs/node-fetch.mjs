// node-fetch: JSON, redirects, encodings, large bodies, forms, aborts, resets and connections that
// are kept alive.
import { createHash } from 'node:crypto';
import http from 'node:http';
import fetch, { FormData } from 'node-fetch';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const agent = new http.Agent({ keepAlive: true });
const server = process.env.SERVER;
const get = (path, options) => fetch(`${server}${path}`, { agent, ...options });

console.log('json', (await (await get('/json?a=b')).json()).url);
const redirected = await get('/redirect');
console.log('redirect', new URL(redirected.url).pathname, redirected.redirected, (await redirected.json()).method);
for (const encoding of ['gzip', 'br', 'deflate']) {
  const text = await (await get('/encoded', { headers: { 'accept-encoding': encoding } })).text();
  console.log(encoding, text.length, digest(text));
}
const large = Buffer.from(await (await get('/large?bytes=8000000')).arrayBuffer());
console.log('large', large.length, digest(large));
let bytes = 0;
for await (const chunk of (await get('/large?bytes=3000000')).body) bytes += chunk.length;
console.log('stream', bytes);
console.log('upload', await (await get('/digest', { method: 'POST', body: Buffer.alloc(5_000_000, 'u') })).text());
const form = new FormData();
form.set('field', 'value');
console.log('form', (await (await get('/echo', { method: 'POST', body: form })).text()).includes('name="field"'));
const missing = await get('/status/404');
console.log('error', missing.ok, missing.status, await missing.text());
const controller = new AbortController();
const aborted = get('/never', { signal: controller.signal });
await (await get('/until-never')).text();
controller.abort();
await aborted.catch(({ name }) => console.log('abort', name));
await (await get('/until-aborted')).text();
await get('/reset').catch(({ code }) => console.log('reset', code));
await (await get('/reset-body')).text().catch(({ code }) => console.log('reset in the body', code));
const used = new Set();
for (let n = 0; n < 10; n++) {
  const response = await get('/json');
  await response.text();
  used.add(response.headers.get('x-connection'));
}
console.log('connections', used.size);
agent.destroy();
