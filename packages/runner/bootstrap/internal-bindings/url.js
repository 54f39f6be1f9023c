// URLs for Node's `internal/url` (node_url.cc): an href, and the offsets of its parts in a shared
// array. The parser is ada, which is C++ in the guest (engine/shim/library-ada.c) as in Node.
'use strict';

const context = require('../context.js');

// Characters of a path that the parser would remove or misread (node_url.cc, `EncodePathChars`).
const POSIX_ESCAPED = /[%\\\n\r\t[\]^|~]/g;
const WINDOWS_ESCAPED = /[%\n\r\t[\]^|~]/g;
const PATHNAME = 6;
const HOSTNAME = 2;

module.exports = function url(binding) {
  const { urlComponents } = binding;
  const parts = new Uint8Array(urlComponents.buffer);

  const invalid = (input, base) => {
    const { ERR_INVALID_URL } = context.requireBuiltin('internal/errors').codes;
    return new ERR_INVALID_URL(input, base);
  };

  binding.parse = (input, base, raise) => {
    const href = native.urlParse(input, base, parts);
    if (href === undefined && raise) throw invalid(input, base);
    return href;
  };
  binding.canParse = (input, base) => native.urlCanParse(input, base);
  binding.getOrigin = (input) => {
    const origin = native.urlOrigin(input);
    if (origin === undefined) throw invalid(input);
    return origin;
  };
  binding.update = (href, action, value) => native.urlUpdate(href, action, value, parts);

  binding.pathToFileURL = (path, windows, host) => {
    const escaped = path.replace(windows ? WINDOWS_ESCAPED : POSIX_ESCAPED, percentEscape);
    let href = native.urlUpdate('file://', PATHNAME, escaped, parts);
    if (windows && host !== undefined) href = native.urlUpdate(href, HOSTNAME, host, parts);
    if (typeof href !== 'string') throw invalid(path, host);
    return href;
  };

  binding.format = (href, hash, unicode, search, auth) => {
    const trimmed = native.urlTrim(href, hash, search, auth, parts);
    if (!unicode) return trimmed;
    const [, , hostStart, hostEnd] = urlComponents;
    const start = trimmed[hostStart] === '@' ? hostStart + 1 : hostStart;
    return `${trimmed.slice(0, start)}${native.idna(trimmed.slice(start, hostEnd), true)}${trimmed.slice(hostEnd)}`;
  };
  binding.domainToASCII = (input) => native.urlHost(input, false);
  binding.domainToUnicode = (input) => native.urlHost(input, true);
};

function percentEscape(char) {
  return `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
