// The filters of `ss`, such as `sport = :3000 or dst 127.0.0.1`. Next: ss.js.

import { addressBytes, sixteen } from './sockets.js';

/** An error of a filter: the message, and the exit code of `ss`. */
export class FilterError extends Error {
  constructor(message, exitCode) {
    super(message);
    this.exitCode = exitCode;
  }
}

const OPERATORS = {
  __proto__: null,
  '=': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};
const SAME = {
  __proto__: null,
  '==': '=',
  eq: '=',
  ne: '!=',
  neq: '!=',
  gt: '>',
  lt: '<',
  ge: '>=',
  geq: '>=',
  le: '<=',
  leq: '<=',
};
const WORDS = { __proto__: null, '|': 'or', '||': 'or', '&': 'and', '&&': 'and', '!': 'not' };
const PORTS = { __proto__: null, ssh: 22, http: 80, https: 443 };
const SYNTAX = 'ss: bison bellows (while parsing filter): "syntax error!" Sorry.';

const wrong = (reason) => new FilterError(`Error: ${reason}.\nCannot parse dst/src address.`, 1);

function portIn(text) {
  const port = PORTS[text] ?? (/^\d+$/.test(text) ? Number(text) : undefined);
  if (port === undefined || port > 65_535) throw wrong(`"${text}" does not look like a port`);
  return port;
}

// Reads `ADDRESS`, `ADDRESS/BITS`, `:PORT` and `ADDRESS:PORT`. `*` is every address or port.
function hostIn(text, isPort) {
  const [, bracketed, plain, port] = /^(?:\[([^\]]*\]?[^:]*)|([^:]*|.*:.*:.*?))(?::([^:]*))?$/.exec(text) ?? [];
  if (isPort && bracketed === undefined && port === undefined) return { port: portIn(text) };
  const isV6 = bracketed === undefined && /:.*:/.test(text);
  const [address, bits] = (isV6 ? text : (bracketed?.replace(']', '') ?? plain ?? '')).split('/');
  const host = {};
  if (!isV6 && port !== undefined && port !== '*') host.port = portIn(port);
  if (address === '' || address === '*') return host;
  const bytes = addressBytes(address);
  if (bytes === undefined) throw wrong(`an inet prefix is expected rather than "${address}"`);
  const length = bits === undefined ? bytes.length * 8 : Number(bits);
  if (!(length <= bytes.length * 8)) throw wrong(`an inet prefix is expected rather than "${address}/${bits}"`);
  return { ...host, bytes: sixteen(bytes), bits: length + (16 - bytes.length) * 8 };
}

function isWithin(address, { bytes, bits, port }) {
  if (port !== undefined && address.port !== port) return false;
  const own = bytes && sixteen(address.bytes);
  return (
    own === undefined ||
    own.every((byte, at) => {
      const left = Math.min(8, Math.max(0, bits - at * 8));
      return byte >> (8 - left) === bytes[at] >> (8 - left);
    })
  );
}

function condition(words) {
  const word = words.shift();
  if (word === undefined || ['or', 'and', ')'].includes(WORDS[word] ?? word)) throw new FilterError(SYNTAX, 255);
  if (word === '(') {
    const inner = either(words);
    if (words.shift() !== ')') throw new FilterError(SYNTAX, 255);
    return inner;
  }
  if ((WORDS[word] ?? word) === 'not') {
    const inner = condition(words);
    return (socket) => !inner(socket);
  }
  const side = { sport: 'local', src: 'local', dport: 'remote', dst: 'remote' }[word];
  const isPort = word === 'sport' || word === 'dport';
  const name = SAME[words[0]] ?? words[0];
  const operator = side === undefined ? undefined : OPERATORS[name];
  if (operator !== undefined) words.shift();
  if ((isPort && operator === undefined) || (side !== undefined && words.length === 0)) throw new FilterError(SYNTAX, 255);
  // A word without a side is an address of the other end.
  const host = hostIn(side === undefined ? word : words.shift(), isPort);
  if (isPort) return (socket) => socket[side] !== undefined && operator(socket[side].port, host.port ?? 0);
  const isNegated = name === '!=';
  return (socket) => {
    const address = socket[side ?? 'remote'];
    return address !== undefined && isWithin(address, host) !== isNegated;
  };
}

function both(words) {
  const all = [condition(words)];
  while (words.length > 0 && words[0] !== ')' && (WORDS[words[0]] ?? words[0]) !== 'or') {
    if ((WORDS[words[0]] ?? words[0]) === 'and') words.shift();
    all.push(condition(words));
  }
  return (socket) => all.every((check) => check(socket));
}

function either(words) {
  const any = [both(words)];
  while ((WORDS[words[0]] ?? words[0]) === 'or') {
    words.shift();
    any.push(both(words));
  }
  return (socket) => any.some((check) => check(socket));
}

/**
 * Returns a function that tests a socket. Throws a `FilterError` if the words are no filter. A
 * socket without addresses of IP matches no condition.
 */
export function readFilter(args) {
  const words = args.flatMap((arg) => arg.split(/\s+/)).filter(Boolean);
  if (words.length === 0) return () => true;
  const filter = either(words);
  if (words.length > 0) throw new FilterError(SYNTAX, 255);
  return filter;
}
