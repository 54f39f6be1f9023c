// Files of Node's tests that need a part of OpenSSL that the sandbox's TLS leaves out on purpose
// (docs/network.md). The page counts these files apart, unless they pass.

export const OPENSSL_ONLY = [
  [
    'TLS 1.0 and 1.1',
    [
      'test-https-agent-additional-options.js',
      'test-https-agent-session-eviction.js',
      'test-tls-getprotocol.js',
      'test-tls-min-max-version.js',
    ],
  ],
  [
    'suites with CBC or without ECDHE',
    [
      'test-https-agent-session-reuse.js',
      'test-tls-getcipher.js',
      'test-tls-honorcipherorder.js',
      'test-tls-set-ciphers.js',
      'test-tls-client-getephemeralkeyinfo.js',
      'test-tls-client-mindhsize.js',
      'test-tls-write-error.js',
    ],
  ],
  ['renegotiation', ['test-https-client-renegotiation-limit.js', 'test-tls-disable-renegotiation.js']],
  ['pre-shared keys', ['test-tls-psk-circuit.js']],
  ['OCSP', ['test-tls-ocsp-callback.js']],
  ['server names whose last label is a number', ['test-https-agent-sni.js']],
  ['traces of messages', ['test-tls-enable-trace.js', 'test-tls-enable-trace-cli.js']],
  ['`getFinished()`', ['test-tls-finished.js']],
];
