// What: URLs for Node's `internal/url` (node_url.cc): an href, and the offsets of its parts in a shared array.
// Next: ../url/parser.js; ../url/setters.js for `url.host = …`.
'use strict';

const context = require('../context.js');
const { parseURL } = require('../url/parser.js');
const { isSpecial, serialize } = require('../url/record.js');
const { toUnicode } = require('../url/punycode.js');
const { update } = require('../url/setters.js');

const OMITTED = 0xffffffff;
// ada::scheme::type
const SCHEME_TYPES = { __proto__: null, http: 0, https: 2, ws: 3, ftp: 4, wss: 5, file: 6 };
const NOT_SPECIAL = 1;

module.exports = function url(binding) {
  const components = binding.urlComponents;

  const publish = (record) => {
    const { href, at } = serialize(record);
    components[0] = at.protocolEnd;
    components[1] = at.usernameEnd;
    components[2] = at.hostStart;
    components[3] = at.hostEnd;
    components[4] = record.port ?? OMITTED;
    components[5] = at.pathnameStart;
    components[6] = at.searchStart === -1 ? OMITTED : at.searchStart;
    components[7] = at.hashStart === -1 ? OMITTED : at.hashStart;
    components[8] = SCHEME_TYPES[record.scheme] ?? NOT_SPECIAL;
    return href;
  };
  const invalid = (input, base) => {
    const { ERR_INVALID_URL } = context.requireBuiltin('internal/errors').codes;
    return new ERR_INVALID_URL(input, base);
  };
  const parse = (input, base) => {
    if (base === undefined) return parseURL(input, undefined);
    const baseRecord = parseURL(base, undefined);
    return baseRecord === undefined ? undefined : parseURL(input, baseRecord);
  };

  binding.parse = (input, base, raise) => {
    const record = parse(input, base);
    if (record !== undefined) return publish(record);
    if (raise) throw invalid(input, base);
    return undefined;
  };
  binding.canParse = (input, base) => parse(input, base) !== undefined;
  binding.pathToFileURL = (path, windows, host) => {
    const escaped = path.replace(windows ? /[%\n\r\t?#]/g : /[%\\\n\r\t?#]/g, percentEscape);
    const record = parseURL(`file://${host ?? ''}${escaped}`, undefined);
    if (record === undefined) throw invalid(`file://${host ?? ''}`);
    return publish(record);
  };
  binding.update = (href, action, value) => {
    const record = parseURL(href, undefined);
    const updated = update(record, action, value);
    return updated === undefined ? false : publish(updated);
  };
  binding.format = (href, fragment, unicode, search, auth) => {
    const record = parseURL(href, undefined);
    if (!fragment) record.fragment = null;
    if (!search) record.query = null;
    if (!auth) record.username = record.password = '';
    if (unicode && record.host !== null) record.host = toUnicode(record.host);
    return serialize(record).href;
  };
  binding.getOrigin = (input) => originOf(parseURL(input, undefined));
  const domain = (input) => parseURL(`ws://${input}`, undefined)?.host ?? '';
  binding.domainToASCII = domain;
  binding.domainToUnicode = (input) => toUnicode(domain(input));
};

function percentEscape(char) {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}

function originOf(record) {
  if (record === undefined) return 'null';
  if (record.scheme === 'blob') return originOf(parseURL(String(record.path), undefined));
  if (!isSpecial(record.scheme) || record.scheme === 'file') return 'null';
  return `${record.scheme}://${record.host}${record.port === null ? '' : `:${record.port}`}`;
}
