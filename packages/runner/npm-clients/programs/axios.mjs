// axios: JSON, redirects, encodings, large bodies, forms, aborts, timeouts, resets and connections
// that are kept alive.
import { createHash } from 'node:crypto';
import http from 'node:http';
import axios from 'axios';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const httpAgent = new http.Agent({ keepAlive: true });
const client = axios.create({ baseURL: process.env.SERVER, httpAgent });

const json = await client.get('/json', { params: { a: 'ä b' } });
console.log('json', json.status, json.data.url);
const redirected = await client.get('/redirect');
console.log('redirect', redirected.request.path, redirected.data.method);
for (const encoding of ['gzip', 'br', 'deflate']) {
  const { data } = await client.get('/encoded', { headers: { 'accept-encoding': encoding } });
  console.log(encoding, data.length, digest(data));
}
const large = await client.get('/large?bytes=8000000', { responseType: 'arraybuffer' });
console.log('large', large.data.length, digest(large.data));
const stream = await client.get('/large?bytes=3000000', { responseType: 'stream' });
let bytes = 0;
for await (const chunk of stream.data) bytes += chunk.length;
console.log('stream', bytes);
const upload = await client.post('/digest', Buffer.alloc(5_000_000, 'u'));
console.log('upload', upload.data);
const form = new FormData();
form.append('field', 'value');
form.append('file', new Blob(['content']), 'name.txt');
const posted = await client.post('/echo', form);
console.log('form', posted.data.includes('name="field"'), posted.data.includes('filename="name.txt"'));
await client.get('/status/404').catch(({ response }) => console.log('error', response.status, response.data));
const controller = new AbortController();
const aborted = client.get('/never', { signal: controller.signal });
await client.get('/until-never');
controller.abort();
await aborted.catch(({ code }) => console.log('abort', code));
await client.get('/until-aborted');
await client.get('/never', { timeout: 50 }).catch(({ code }) => console.log('timeout', code));
await client.get('/reset').catch(({ code }) => console.log('reset', code));
await client.get('/reset-body').catch(({ code }) => console.log('reset in the body', code));
const used = new Set();
for (let n = 0; n < 10; n++) used.add((await client.get('/json')).headers['x-connection']);
console.log('connections', used.size);
const many = await Promise.all(Array.from({ length: 40 }, (_, n) => client.get(`/json?${n}`)));
console.log(
  'parallel',
  many.every(({ data }, n) => data.url === `/json?${n}`),
);
httpAgent.destroy();
