// What: the setters of a URL object (`url.host = …`), on a record. undefined = the new value is not taken.
// Next: ../bindings/url.js.
'use strict';

const { FRAGMENT, QUERY, SPECIAL_QUERY, USERINFO, percentEncode } = require('./encode.js');
const { SPECIAL_PORTS, isSpecial } = require('./record.js');
const { parseURL, setPath, setPort } = require('./parser.js');
const { parseHost } = require('./host.js');

const clean = (value) => value.replace(/[\t\n\r]/g, '');
const cannotHaveCredentials = (record) => record.host === null || record.host === '' || record.scheme === 'file';
const hasOpaquePath = (record) => typeof record.path === 'string';

function setProtocol(record, value) {
  const match = /^([a-zA-Z][a-zA-Z0-9+\-.]*)(?::|$)/.exec(clean(value));
  if (match === null) return undefined;
  const scheme = match[1].toLowerCase();
  if (isSpecial(scheme) !== isSpecial(record.scheme)) return record;
  if (scheme === 'file' && (record.username !== '' || record.password !== '' || record.port !== null)) return record;
  if (record.scheme === 'file' && record.host === '') return record;
  record.scheme = scheme;
  if (record.port === SPECIAL_PORTS[scheme]) record.port = null;
  return record;
}

// The part of `value` that can be a host (and port), up to the path.
function authorityOf(record, value) {
  return clean(value).split(isSpecial(record.scheme) ? /[/\\?#]/ : /[/?#]/, 1)[0];
}

function setHost(record, value) {
  if (hasOpaquePath(record)) return undefined;
  const text = authorityOf(record, value);
  const colon = /:([^\]]*)$/.exec(text);
  const host = colon === null ? text : text.slice(0, colon.index);
  if (!setHostname(record, host)) return undefined;
  const digits = /^[0-9]+/.exec(colon?.[1] ?? '');
  if (digits !== null) setPort(record, digits[0]);
  return record;
}

function setHostname(record, value) {
  if (hasOpaquePath(record)) return undefined;
  const text = authorityOf(record, value);
  const special = isSpecial(record.scheme);
  if (text === '') {
    if (special && record.scheme !== 'file') return undefined;
    if (record.username !== '' || record.password !== '' || record.port !== null) return undefined;
    record.host = '';
    return record;
  }
  if (text.includes(':') && !text.startsWith('[')) return undefined;
  const host = parseHost(text, special);
  if (host === undefined) return undefined;
  record.host = record.scheme === 'file' && host === 'localhost' ? '' : host;
  return record;
}

function setPortText(record, value) {
  if (cannotHaveCredentials(record)) return undefined;
  if (value === '') {
    record.port = null;
    return record;
  }
  const digits = /^[0-9]+/.exec(clean(value));
  return digits !== null && setPort(record, digits[0]) ? record : undefined;
}

function setPathname(record, value) {
  if (hasOpaquePath(record)) return undefined;
  return setPath(
    record,
    clean(value).replace(/[?#]/g, (char) => (char === '?' ? '%3F' : '%23')),
  );
}

function setSearch(record, value) {
  const text = clean(value).replace(/^\?/, '');
  record.query = value === '' ? null : percentEncode(text, isSpecial(record.scheme) ? SPECIAL_QUERY : QUERY);
  return record;
}

function setHash(record, value) {
  record.fragment = value === '' ? null : percentEncode(clean(value).replace(/^#/, ''), FRAGMENT);
  return record;
}

function setCredential(record, key, value) {
  if (cannotHaveCredentials(record)) return undefined;
  record[key] = percentEncode(value, USERINFO);
  return record;
}

// In the order of internal/url's `updateActions`.
const ACTIONS = [
  setProtocol,
  setHost,
  setHostname,
  setPortText,
  (record, value) => setCredential(record, 'username', value),
  (record, value) => setCredential(record, 'password', value),
  setPathname,
  setSearch,
  setHash,
  (record, value) => parseURL(value, undefined),
];

function update(record, action, value) {
  return ACTIONS[action](record, value);
}

module.exports = { update };
