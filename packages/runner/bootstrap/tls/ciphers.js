// The cipher suites of TLS, and the lists of OpenSSL that choose suites. Next: secure-context.js.
'use strict';

const { sessionError } = require('./errors.js');

// The suites of TLS 1.3, in the order of preference.
const TLS13 = ['TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256', 'TLS_AES_128_GCM_SHA256'];
// The suites of TLS 1.2, in the order of preference.
const TLS12 = [
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
];

const all = () => true;
const has = (text) => (name) => name.includes(text);
// The groups of suites that a list may name.
const GROUPS = {
  __proto__: null,
  ALL: all,
  DEFAULT: all,
  HIGH: all,
  COMPLEMENTOFDEFAULT: () => false,
  'TLSv1.2': all,
  ECDHE: all,
  EECDH: all,
  kECDHE: all,
  kEECDH: all,
  AESGCM: has('GCM'),
  AES: has('AES'),
  AES128: has('AES128'),
  AES256: has('AES256'),
  CHACHA20: has('CHACHA20'),
  aRSA: has('-RSA-'),
  RSA: has('-RSA-'),
  aECDSA: has('ECDSA'),
  ECDSA: has('ECDSA'),
  SHA256: has('AES128'),
  SHA384: has('SHA384'),
};
// The beginnings of OpenSSL's other suites and groups, which the session does not have.
const OTHERS =
  /^(?:k[A-Z]|a[A-Z]|A?ECDH|A?DH|EDH|EXP|PSK|SRP|RSA|AES|CAMELLIA|ARIA|SEED|IDEA|RC|DES|3DES|NULL|eNULL|GOST|MD5|SHA|LOW|MEDIUM|FIPS|SSLv3|TLSv1|CBC|DSS|SUITEB|CHACHA|ECDSA)/;

// The last list and its suites. Most programs have one list.
let last = { list: undefined, found: undefined };

// Returns the suites of TLS 1.2 of a list. Throws if no part of the list is known.
function chosen(list) {
  if (list !== last.list) last = { list, found: suitesOf(list) };
  return last.found;
}

function suitesOf(list) {
  const found = [];
  let known = false;
  for (const part of list.split(/[:, ]+/)) {
    if (part === '' || part[0] === '@') continue;
    const excludes = part[0] === '!' || part[0] === '-';
    // Each suite has the highest level of security (security-level.js).
    const name = part.replace(/^[!+-]/, '').replace(/@.*$/, '');
    known ||= name in GROUPS || TLS12.includes(name) || OTHERS.test(name);
    if (part[0] === '+') continue;
    const tests = name.split('+').map((one) => GROUPS[one] ?? ((suite) => suite === one));
    const matches = (suite) => tests.every((test) => test(suite));
    if (excludes) {
      for (const suite of TLS12) if (matches(suite) && found.includes(suite)) found.splice(found.indexOf(suite), 1);
    } else for (const suite of TLS12) if (matches(suite) && !found.includes(suite)) found.push(suite);
  }
  if (!known && list !== '') throw sessionError('no cipher match');
  return found;
}

// Returns the suites of TLS 1.3 of a list.
function chosen13(list) {
  const names = list.split(':');
  const found = names.filter((name) => TLS13.includes(name));
  if (found.length === 0 && !names.some((name) => name.startsWith('!'))) throw sessionError('no cipher match');
  return found;
}

const listed = () => [...TLS13, ...TLS12].map((name) => name.toLowerCase());

module.exports = { TLS12, TLS13, chosen, chosen13, listed };
