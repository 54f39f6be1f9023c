// Sends malformed and oversized heads of responses to the app's client.

import type { EscapeCase } from '../../harness/case.js';
import { hostile } from './server.js';

/** Wrong status lines. Each leads to `ERR_RESPONSE_INVALID`. */
const STATUS_LINES = [
  'HTTP/1.1 000 x',
  'HTTP/1.1 99 x',
  'HTTP/1.1 1000 x',
  'HTTP/1.1 -200 x',
  'HTTP/1.1 abc x',
  'HTTP/1.1 2 0 0',
  'HTTP/9.9 200 x',
  'HTTP/1.1200 OK',
  'ICY 200 OK',
  'GET / HTTP/1.1',
  '',
];

const statusLine = (line: string): EscapeCase =>
  hostile(
    `a status line ${JSON.stringify(line)} is an error`,
    `socket.end(${JSON.stringify(`${line}\r\ncontent-length: 2\r\n\r\nhi`)});`,
    'ERR_RESPONSE_INVALID',
  );

export const heads: EscapeCase[] = [
  ...STATUS_LINES.map(statusLine),
  hostile(
    'a flood of headers is an error',
    `await drained(socket, HEAD + 'a: b\\r\\n'.repeat(100000) + '\\r\\n');`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile(
    'one endless header is an error',
    `for (socket.write(HEAD + 'a: '); !socket.destroyed; ) await drained(socket, 'x'.repeat(65536));`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile(
    'an endless name of a header is an error',
    `for (socket.write(HEAD); !socket.destroyed; ) await drained(socket, 'x'.repeat(65536));`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile(
    'an endless status text ends at the timeout',
    `for (socket.write('HTTP/1.1 200 '); !socket.destroyed; ) await drained(socket, 'x'.repeat(65536));`,
    'ERR_FETCH_TIMEOUT',
    undefined,
    { timeoutMs: 500 },
  ),
  hostile(
    'a name of a header with a NUL is an error',
    `socket.end(HEAD + 'a\\0b: c\\r\\ncontent-length: 0\\r\\n\\r\\n');`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile(
    'a name of a header with a space is an error',
    `socket.end(HEAD + 'content-length : 5\\r\\n\\r\\nhello');`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile(
    'a value of a header with a NUL is an error',
    `socket.end(HEAD + 'a: b\\0c\\r\\ncontent-length: 0\\r\\n\\r\\n');`,
    'ERR_RESPONSE_INVALID',
  ),
  hostile(
    'a folded header does not make a header',
    `socket.end(HEAD + 'a: b\\r\\n x-evil: 1\\r\\ncontent-length: 2\\r\\n\\r\\nhi');`,
    'ERR_RESPONSE_INVALID',
    ({ headers }) => JSON.stringify(headers),
  ),
  hostile(
    'a bare line feed or carriage return does not make a header',
    `socket.end(HEAD + 'a: b\\rx-evil: 1\\r\\ncontent-length: 2\\r\\n\\r\\nhi');`,
    'ERR_RESPONSE_INVALID',
    ({ headers }) => JSON.stringify(headers),
  ),
  hostile(
    'names of headers do not reach prototypes',
    `
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
const lines = names.map((name, n) => name + ': ' + (n + 1) + '\\r\\n').join('');
socket.end(HEAD + lines + 'content-length: 2\\r\\n\\r\\nhi');`,
    '{"__proto__":"1","constructor":"2","tostring":"3","hasownproperty":"4","content-length":"2"} undefined true',
    ({ headers }) => {
      const prototype = Object.getPrototypeOf(headers);
      const { polluted } = {} as { polluted?: unknown };
      return `${JSON.stringify(headers)} ${polluted} ${prototype === Object.prototype || prototype === null}`;
    },
  ),
  hostile(
    'headers with bytes of other encodings stay text',
    `socket.end(Buffer.from(HEAD + 'a: \\xff\\xfe\\x80\\r\\ncontent-length: 2\\r\\n\\r\\nhi', 'latin1'));`,
    'string 3',
    ({ headers }) => `${typeof headers.a} ${headers.a?.length}`,
  ),
  hostile(
    'a status text with control characters stays data',
    `socket.end('HTTP/1.1 200 a\\x1b[2J\\0b\\r\\ncontent-length: 2\\r\\n\\r\\nhi');`,
    '"a\\u001b[2J\\u0000b"',
    ({ statusText }) => JSON.stringify(statusText),
  ),
  hostile(
    'thousands of cookies stay below the limit of a head',
    `socket.end(HEAD + 'set-cookie: a=b\\r\\n'.repeat(500) + 'content-length: 2\\r\\n\\r\\nhi');`,
    '500',
    ({ headers }) => `${headers['set-cookie']?.length}`,
  ),
  hostile(
    'a response that continues no request is an error',
    `socket.end('HTTP/1.1 100 Continue\\r\\n\\r\\n'.repeat(5000) + HEAD + 'content-length: 2\\r\\n\\r\\nhi');`,
    'ECONNRESET',
  ),
  hostile(
    'a flood of early hints does not become the response',
    `socket.end('HTTP/1.1 103 Early Hints\\r\\nx-evil: 1\\r\\n\\r\\n'.repeat(2000) + HEAD + 'content-length: 2\\r\\n\\r\\nhi');`,
    'hi undefined',
    ({ body, headers }) => `${body} ${headers['x-evil']}`,
  ),
  hostile(
    'endless informational responses end at the timeout',
    `while (!socket.destroyed) await drained(socket, 'HTTP/1.1 102 Processing\\r\\n\\r\\n'.repeat(100));`,
    'ERR_FETCH_TIMEOUT',
    undefined,
    { timeoutMs: 500 },
  ),
  hostile(
    'an upgrade that the app did not ask for is an error',
    `socket.end('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: evil\\r\\nconnection: upgrade\\r\\n\\r\\nraw bytes');`,
    'ECONNRESET',
  ),
];
