// What: the URL standard's basic parser, written by the parts of a URL instead of by its state machine: scheme, authority, path, query, fragment.
// Why in JavaScript: it is what ada does in Node's C++; a native parser takes its place when Node's whole library comes in.
// Next: host.js, ../bindings/url.js.
'use strict';

const { C0, FRAGMENT, PATH, QUERY, SPECIAL_QUERY, USERINFO, percentEncode } = require('./encode.js');
const { SPECIAL_PORTS, isSpecial, newRecord } = require('./record.js');
const { parseHost } = require('./host.js');

const SCHEME = /^([a-zA-Z][a-zA-Z0-9+\-.]*):/;
const isDriveLetter = (text) => /^[a-zA-Z][:|]$/.test(text);
const startsWithDriveLetter = (text) => /^[a-zA-Z][:|](?:[/\\?#]|$)/.test(text);

// A record, or undefined when `input` is no URL (with that base).
function parseURL(input, base) {
  const text = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
  const record = newRecord();
  const { body, query, fragment } = split(text);
  const match = SCHEME.exec(body);
  if (match === null) {
    if (base === undefined) return undefined;
    return parseRelative(record, body, query, fragment, base);
  }
  record.scheme = match[1].toLowerCase();
  const rest = body.slice(match[0].length);
  setQueryAndFragment(record, query, fragment);
  if (record.scheme === 'file') return parseFile(record, rest, query, base);
  if (isSpecial(record.scheme)) {
    if (base !== undefined && base.scheme === record.scheme && !/^[/\\]{2}/.test(rest)) {
      return parseRelative(record, rest, query, fragment, base);
    }
    return parseAuthority(record, rest.replace(/^[/\\]*/, ''));
  }
  if (rest.startsWith('//')) return parseAuthority(record, rest.slice(2));
  if (rest.startsWith('/')) return setPath(record, rest);
  record.path = percentEncode(rest, C0);
  if (record.query !== null || record.fragment !== null) record.path = record.path.replace(/ $/, '%20');
  return record;
}

function split(text) {
  const hash = text.indexOf('#');
  const fragment = hash === -1 ? null : text.slice(hash + 1);
  const beforeHash = hash === -1 ? text : text.slice(0, hash);
  const mark = beforeHash.indexOf('?');
  return {
    body: mark === -1 ? beforeHash : beforeHash.slice(0, mark),
    query: mark === -1 ? null : beforeHash.slice(mark + 1),
    fragment,
  };
}

function setQueryAndFragment(record, query, fragment) {
  if (query !== null) record.query = percentEncode(query, isSpecial(record.scheme) ? SPECIAL_QUERY : QUERY);
  if (fragment !== null) record.fragment = percentEncode(fragment, FRAGMENT);
}

function copyOrigin(record, base) {
  record.scheme = base.scheme;
  record.username = base.username;
  record.password = base.password;
  record.host = base.host;
  record.port = base.port;
}

function parseRelative(record, body, query, fragment, base) {
  if (typeof base.path === 'string') {
    if (body !== '' || query !== null || fragment === null) return undefined;
    copyOrigin(record, base);
    record.path = base.path;
    record.query = base.query;
    record.fragment = percentEncode(fragment, FRAGMENT);
    return record;
  }
  record.scheme = base.scheme;
  setQueryAndFragment(record, query, fragment);
  if (base.scheme === 'file') return parseFile(record, body, query, base);
  const special = isSpecial(base.scheme);
  if (special ? /^[/\\]{2}/.test(body) : body.startsWith('//')) {
    return parseAuthority(record, special ? body.replace(/^[/\\]*/, '') : body.slice(2));
  }
  copyOrigin(record, base);
  return resolvePath(record, body, query, base);
}

function resolvePath(record, body, query, base) {
  if (body === '') {
    record.path = [...base.path];
    if (query === null) record.query = base.query;
    return record;
  }
  const rooted = body.startsWith('/') || (isSpecial(record.scheme) && body.startsWith('\\'));
  return rooted ? setPath(record, body) : setPath(record, body, base.path.slice(0, -1));
}

function parseFile(record, rest, query, base) {
  const fileBase = base !== undefined && base.scheme === 'file' ? base : undefined;
  record.host = '';
  if (/^[/\\]{2}/.test(rest)) {
    const after = rest.slice(2);
    const end = after.search(/[/\\]/);
    const host = end === -1 ? after : after.slice(0, end);
    if (isDriveLetter(host)) return setPath(record, after);
    if (host !== '') {
      const parsed = parseHost(host, true);
      if (parsed === undefined) return undefined;
      record.host = parsed === 'localhost' ? '' : parsed;
    }
    return setPath(record, end === -1 ? '' : after.slice(end));
  }
  if (fileBase === undefined) return setPath(record, rest);
  record.host = fileBase.host;
  if (/^[/\\]/.test(rest)) {
    const drive = fileBase.path[0];
    const keepsDrive = !startsWithDriveLetter(rest.slice(1)) && drive !== undefined && /^[a-zA-Z]:$/.test(drive);
    return setPath(record, rest, keepsDrive ? [drive] : []);
  }
  if (rest !== '' && startsWithDriveLetter(rest)) return setPath(record, rest);
  return resolvePath(record, rest, query, fileBase);
}

function parseAuthority(record, rest) {
  const special = isSpecial(record.scheme);
  const end = rest.search(special ? /[/\\]/ : /\//);
  const authority = end === -1 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf('@');
  if (at !== -1) {
    const userinfo = authority.slice(0, at);
    const colon = userinfo.indexOf(':');
    record.username = percentEncode(colon === -1 ? userinfo : userinfo.slice(0, colon), USERINFO);
    if (colon !== -1) record.password = percentEncode(userinfo.slice(colon + 1), USERINFO);
  }
  if (!setHostAndPort(record, authority.slice(at + 1), at !== -1)) return undefined;
  return setPath(record, end === -1 ? '' : rest.slice(end));
}

function setHostAndPort(record, text, hasCredentials) {
  const port = /:([^\]:]*)$/.exec(text);
  const host = port === null ? text : text.slice(0, port.index);
  const special = isSpecial(record.scheme);
  if (host === '' && (special || hasCredentials || port !== null)) return false;
  const parsed = host === '' ? '' : parseHost(host, special);
  if (parsed === undefined) return false;
  record.host = parsed;
  return port === null || setPort(record, port[1]);
}

function setPort(record, digits) {
  if (digits === '') {
    record.port = null;
    return true;
  }
  const number = Number(digits);
  if (!/^[0-9]+$/.test(digits) || number > 65535) return false;
  record.port = number === SPECIAL_PORTS[record.scheme] ? null : number;
  return true;
}

const SINGLE_DOT = /^(?:\.|%2e)$/i;
const DOUBLE_DOT = /^(?:\.|%2e){2}$/i;

// Appends `text` to the segments in `start`, with dots resolved.
function setPath(record, text, start = []) {
  const special = isSpecial(record.scheme);
  record.path = start;
  if (text === '') {
    if (special) record.path.push('');
    return record;
  }
  const segments = text.replace(special ? /^[/\\]/ : /^\//, '').split(special ? /[/\\]/ : '/');
  segments.forEach((segment, index) => {
    const last = index === segments.length - 1;
    if (DOUBLE_DOT.test(segment)) {
      const isDrive = record.scheme === 'file' && record.path.length === 1 && /^[a-zA-Z]:$/.test(record.path[0]);
      if (!isDrive) record.path.pop();
      if (last) record.path.push('');
    } else if (SINGLE_DOT.test(segment)) {
      if (last) record.path.push('');
    } else if (record.scheme === 'file' && record.path.length === 0 && isDriveLetter(segment)) {
      record.path.push(`${segment[0]}:`);
    } else {
      record.path.push(percentEncode(segment, PATH));
    }
  });
  return record;
}

module.exports = { parseURL, setPath, setPort };
