// pako: deflate in JavaScript, and with Node's zlib.

import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import * as pako from 'pako';

const text = 'the quick brown fox '.repeat(200);
const deflated = pako.deflate(text, { level: 9 });
console.log(deflated.length, pako.inflate(deflated, { to: 'string' }) === text);
console.log(
  pako.ungzip(gzipSync(text), { to: 'string' }) === text,
  gunzipSync(pako.gzip(text)).toString() === text,
  inflateRawSync(pako.deflateRaw('raw')).toString(),
);
const inflator = new pako.Inflate({ to: 'string' });
for (let at = 0; at < deflated.length; at += 10) inflator.push(deflated.subarray(at, at + 10));
console.log(inflator.err, inflator.result.length);
