// The features that are missing, and their present behaviour. The generated page lists the features
// (page.mjs).

export const LATER = [
  ['`worker_threads` with threads', '`new Worker()` throws; ports, channels and `structuredClone` work'],
  [
    '`vm`: signals and columns',
    '`breakOnSigint` and `columnOffset` do nothing, and `lineOffset` does nothing for modules; ' +
      'contexts, timeouts and modules in contexts work',
  ],
  ['`Intl`', 'absent; `toLocaleString` and similar methods write English'],
  [
    '`WebAssembly` in the guest',
    'absent, so npm packages that contain WebAssembly fail when the package is used, except `undici`; ' +
      'the global `fetch` and `WebSocket` work',
  ],
  ['`inspector`', '`require` throws `ERR_INSPECTOR_NOT_AVAILABLE`, as in a Node that was built without the inspector'],
  ['`sqlite`', 'the classes of the module throw'],
  ['connections to other machines', 'fail with `EACCES` unless the option [`network`](network.md) allows the host'],
  ['`tls`', '[some parts](network.md#tls) are missing, such as TLS 1.0 and 1.1, CBC suites and pre-shared keys'],
  [
    '`TextDecoder` for Chinese, Japanese and Korean encodings',
    '`RangeError` with `ERR_ENCODING_NOT_SUPPORTED`; UTF-8, UTF-16 and all single-byte encodings work',
  ],
  [
    'options of `node`: `--watch`, `--inspect`, `--cpu-prof`, `--heap-prof`, `--permission`, `--report-on-signal`, …',
    '`node` ends with exit code 9, and names a replacement; `bootstrap/program/unsupported-options.js` has all options',
  ],
  ['statistics of histograms beyond the basic ones (`ksTest`, `percentileCI`, …)', 'these functions throw'],
];
