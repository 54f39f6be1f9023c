// What is left for later, and what a program meets until then. The generated page lists it (page.mjs).

export const LATER = [
  ['`worker_threads` with threads', '`new Worker()` throws; ports, channels and `structuredClone` work'],
  [
    '`vm`: signals and columns',
    '`breakOnSigint` does nothing; `columnOffset` neither; contexts, timeouts and modules in contexts work',
  ],
  ['`Intl`', 'absent; `toLocaleString` and the like write English'],
  [
    '`WebAssembly` in the guest',
    'absent, so npm packages that bring some (`undici`) fail at use; `fetch` and `WebSocket` are there',
  ],
  ['`http2`', 'its functions throw'],
  ['`inspector`', '`require` throws `ERR_INSPECTOR_NOT_AVAILABLE`, as in a Node that was built without it'],
  ['`sqlite`', 'its classes throw'],
  ['connections to the outside, and TLS', 'loopback inside a runtime works, with `fetch` and `WebSocket` too; TLS throws'],
  [
    '`TextDecoder` for Chinese, Japanese and Korean encodings',
    '`RangeError` with `ERR_ENCODING_NOT_SUPPORTED`; UTF-8, UTF-16 and all single-byte encodings work',
  ],
  ['statistics of histograms beyond the basic ones (`ksTest`, `percentileCI`, …)', 'they throw'],
];
