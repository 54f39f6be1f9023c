// What: a parsed URL as the URL standard defines it (a record), and its serialisation. Paths are arrays of segments, or a string when opaque.
// Next: parser.js makes records, host.js their hosts, ../bindings/url.js gives them to Node's library.
'use strict';

const SPECIAL_PORTS = { __proto__: null, ftp: 21, file: null, http: 80, https: 443, ws: 80, wss: 443 };

const isSpecial = (scheme) => scheme in SPECIAL_PORTS;

function newRecord() {
  return { scheme: '', username: '', password: '', host: null, port: null, path: [], query: null, fragment: null };
}

function serializePath(record) {
  if (typeof record.path === 'string') return record.path;
  let text = '';
  for (const segment of record.path) text += `/${segment}`;
  return text;
}

// The href and the offsets of its parts, as ada's url_components has them.
function serialize(record) {
  let href = `${record.scheme}:`;
  const at = { protocolEnd: href.length };
  if (record.host !== null) {
    href += '//';
    href += record.username;
    at.usernameEnd = href.length;
    if (record.password !== '') href += `:${record.password}`;
    at.hostStart = href.length;
    if (record.username !== '' || record.password !== '') href += '@';
    href += record.host;
    at.hostEnd = href.length;
    if (record.port !== null) href += `:${record.port}`;
  } else {
    at.usernameEnd = at.hostStart = at.hostEnd = href.length;
    if (typeof record.path !== 'string' && record.path.length > 1 && record.path[0] === '') href += '/.';
  }
  at.pathnameStart = href.length;
  href += serializePath(record);
  at.searchStart = -1;
  if (record.query !== null) {
    at.searchStart = href.length;
    href += `?${record.query}`;
  }
  at.hashStart = -1;
  if (record.fragment !== null) {
    at.hashStart = href.length;
    href += `#${record.fragment}`;
  }
  return { href, at };
}

module.exports = { SPECIAL_PORTS, isSpecial, newRecord, serialize, serializePath };
