// Reads curl's command line. Next: curl.js.

import fs from 'node:fs';
import { readAll } from '../descriptors.js';
import { TransferError } from './transfer.js';

// Option → the name of the field that is set. Options of the second table have a value.
const SWITCHES = {
  __proto__: null,
  silent: 'silent',
  'show-error': 'showsError',
  fail: 'fails',
  'fail-with-body': 'failsWithBody',
  location: 'follows',
  'location-trusted': 'follows',
  include: 'includes',
  head: 'isHead',
  get: 'isGet',
  'remote-name': 'isRemoteName',
  insecure: 'insecure',
  verbose: 'verbose',
  compressed: 'decodes',
  'create-dirs': 'makesFolders',
  'retry-connrefused': 'retriesRefused',
  'retry-all-errors': 'retriesAll',
};
// These options change nothing in a runtime: there is no progress bar, no other address family and
// no other version of HTTP.
const IGNORED_NAMES = `no-buffer progress-bar no-progress-meter http1.1 http1.0 http2 ipv4 ipv6 tcp-nodelay no-keepalive
  disable globoff path-as-is`;
const IGNORED = new Set(IGNORED_NAMES.split(/\s+/));
const VALUES = {
  __proto__: null,
  request: 'method',
  output: 'output',
  'write-out': 'writeOut',
  'user-agent': 'agent',
  referer: 'referer',
  user: 'user',
  'max-time': 'maxTime',
  'connect-timeout': 'connectTimeout',
  retry: 'retries',
  'retry-delay': 'retryDelay',
  'retry-max-time': 'retryTime',
  'max-redirs': 'mostRedirects',
  'unix-socket': 'socketPath',
  'upload-file': 'upload',
  'dump-header': 'headFile',
  'output-dir': 'folder',
  'oauth2-bearer': 'bearer',
};
const LETTERS = {
  __proto__: null,
  s: 'silent',
  S: 'show-error',
  f: 'fail',
  L: 'location',
  i: 'include',
  I: 'head',
  G: 'get',
  O: 'remote-name',
  k: 'insecure',
  v: 'verbose',
  N: 'no-buffer',
  '#': 'progress-bar',
  4: 'ipv4',
  6: 'ipv6',
  q: 'disable',
  g: 'globoff',
  0: 'http1.0',
  X: 'request',
  o: 'output',
  w: 'write-out',
  A: 'user-agent',
  e: 'referer',
  u: 'user',
  m: 'max-time',
  T: 'upload-file',
  D: 'dump-header',
  H: 'header',
  d: 'data',
  F: 'form',
  b: 'cookie',
};
const REPEATED = new Set([
  'header',
  'data',
  'data-ascii',
  'data-raw',
  'data-binary',
  'data-urlencode',
  'json',
  'form',
  'form-string',
  'cookie',
  'url',
  'url-query',
]);

const content = (path) => (path === '-' ? readAll(0) : fs.readFileSync(path));
const encode = (text) =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');

function dataOf(option, value) {
  const fromFile = option !== 'data-raw' && option !== 'data-urlencode' && value.startsWith('@');
  if (fromFile) {
    const bytes = fileOf(value.slice(1));
    return option === 'data' || option === 'data-ascii'
      ? Buffer.from(bytes.filter((byte) => byte !== 10 && byte !== 13 && byte !== 0))
      : bytes;
  }
  if (option !== 'data-urlencode') return Buffer.from(value);
  const [, name, sign, text] = /^([^=@]*)([=@]?)(.*)$/s.exec(value);
  if (sign === '') return Buffer.from(encode(name));
  const prefix = name === '' ? '' : `${name}=`;
  return Buffer.from(prefix + encode(sign === '@' ? fileOf(text).toString() : text));
}

function fileOf(path) {
  try {
    return content(path);
  } catch {
    throw new TransferError(26, `Failed to open ${path}`);
  }
}

/** Returns the options of a command line. Throws a `TransferError` for a wrong command line. */
export function readOptions(args) {
  const read = { urls: [], headers: [], data: [], form: [], cookies: [], outputs: [] };
  const words = [...args];
  const take = (name, attached) => {
    const value = attached ?? words.shift();
    if (value === undefined) throw new TransferError(2, `option ${name}: requires parameter`);
    return value;
  };
  while (words.length > 0) {
    const word = words.shift();
    if (word === '--') {
      read.urls.push(...words.splice(0));
    } else if (word.startsWith('--')) set(read, word.slice(2), () => take(word));
    else if (!/^-./.test(word)) read.urls.push(word);
    else
      for (let at = 1; at < word.length; at++) {
        const name = LETTERS[word[at]];
        if (name === undefined) throw new TransferError(2, `option -${word[at]}: is unknown`);
        const rest = word.slice(at + 1) || undefined;
        let used = false;
        set(read, name, () => {
          used = true;
          return take(`-${word[at]}`, rest);
        });
        if (used) break;
      }
  }
  return read;
}

function set(read, name, value) {
  if (IGNORED.has(name) || /^no-(?:silent|location|include|fail|verbose|compressed)$/.test(name)) return;
  if (SWITCHES[name] !== undefined) read[SWITCHES[name]] = true;
  else if (name === 'output') read.outputs.push(value());
  else if (VALUES[name] !== undefined) read[VALUES[name]] = value();
  else if (REPEATED.has(name)) repeat(read, name, value());
  else throw new TransferError(2, `option --${name}: is unknown`);
}

function repeat(read, name, value) {
  if (name === 'header')
    read.headers.push(...(value.startsWith('@') ? fileOf(value.slice(1)).toString().split('\n').filter(Boolean) : [value]));
  else if (name === 'cookie') read.cookies.push(value);
  else if (name === 'url') read.urls.push(value);
  else if (name === 'url-query') read.query = [...(read.query ?? []), value];
  else if (name === 'form' || name === 'form-string') read.form.push({ text: value, isPlain: name === 'form-string' });
  else {
    if (name === 'json') {
      read.isJson = true;
      read.data.push({ bytes: dataOf('data-binary', value), joins: false });
    } else read.data.push({ bytes: dataOf(name, value), joins: true });
  }
}

/** Returns the body of `--data` options: the pieces, joined by `&`. */
export function joined(data) {
  const pieces = data.flatMap(({ bytes, joins }, index) => (index > 0 && joins ? [Buffer.from('&'), bytes] : [bytes]));
  return Buffer.concat(pieces);
}

/** Returns the multipart body of `--form` options, and its content type. */
export async function multipart(fields) {
  const form = new FormData();
  for (const { text, isPlain } of fields) {
    const at = text.indexOf('=');
    if (at < 0) throw new TransferError(2, 'Illegally formatted input field');
    const [name, value] = [text.slice(0, at), text.slice(at + 1)];
    const [, sign, path, rest = ''] = isPlain ? [] : (/^([@<])([^;]*)((?:;.*)?)$/s.exec(value) ?? []);
    if (sign === undefined) {
      form.append(name, isPlain ? value : value.replace(/;type=[^;]*$/, ''));
      continue;
    }
    const bytes = fileOf(path);
    if (sign === '<') form.append(name, bytes.toString());
    else {
      const type = /;type=([^;]+)/.exec(rest)?.[1] ?? 'application/octet-stream';
      form.append(name, new Blob([bytes], { type }), /;filename=([^;]+)/.exec(rest)?.[1] ?? path.split('/').pop());
    }
  }
  const response = new Response(form);
  return { body: Buffer.from(await response.arrayBuffer()), type: response.headers.get('content-type') };
}
