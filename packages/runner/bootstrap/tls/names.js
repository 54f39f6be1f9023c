// The names in certificates, in OpenSSL's and Node's texts. Next: certificate.js.
'use strict';

const ip = require('../net/ip.js');
const der = require('./der.js');

// The short names of attributes.
const ATTRIBUTES = {
  __proto__: null,
  '2.5.4.3': 'CN',
  '2.5.4.4': 'SN',
  '2.5.4.5': 'serialNumber',
  '2.5.4.6': 'C',
  '2.5.4.7': 'L',
  '2.5.4.8': 'ST',
  '2.5.4.9': 'street',
  '2.5.4.10': 'O',
  '2.5.4.11': 'OU',
  '2.5.4.12': 'title',
  '2.5.4.15': 'businessCategory',
  '2.5.4.17': 'postalCode',
  '2.5.4.42': 'GN',
  '2.5.4.97': 'organizationIdentifier',
  '1.2.840.113549.1.9.1': 'emailAddress',
  '0.9.2342.19200300.100.1.1': 'UID',
  '0.9.2342.19200300.100.1.25': 'DC',
};
const ACCESS = { __proto__: null, '1.3.6.1.5.5.7.48.1': 'OCSP', '1.3.6.1.5.5.7.48.2': 'CA Issuers' };
const EMAIL = 1;
const DNS = 2;
const DIRECTORY = 4;
const URI = 6;
const ADDRESS = 7;
const REGISTERED = 8;
const LABELS = { __proto__: null, [EMAIL]: 'email', [DNS]: 'DNS', [URI]: 'URI' };

// Flags of `checkHost`.
const ALWAYS_SUBJECT = 1;
const NO_WILDCARDS = 2;
const NEVER_SUBJECT = 32;

// Returns the attributes of a name as [short name, value].
function attributes(name) {
  return der.childrenOf(name).flatMap((set) =>
    der.childrenOf(set).map((pair) => {
      const [type, value] = der.childrenOf(pair);
      const oid = der.oidOf(type);
      return [ATTRIBUTES[oid] ?? oid, der.textOf(value)];
    }),
  );
}

const escaped = (text) => text.replace(/[,+"\\<>;\n]|^[# ]| $/g, (char) => (char === '\n' ? '\\0A' : `\\${char}`));

function lines(name) {
  const found = attributes(name).map(([type, value]) => `${type}=${escaped(value)}`);
  return found.length === 0 ? undefined : found.join('\n');
}

function object(name) {
  const found = { __proto__: null };
  for (const [type, value] of attributes(name)) {
    if (!(type in found)) found[type] = value;
    else if (Array.isArray(found[type])) found[type].push(value);
    else found[type] = [found[type], value];
  }
  return found;
}

const valuesOf = (name, type) =>
  attributes(name)
    .filter(([one]) => one === type)
    .map(([, value]) => value);
const commonNames = (name) => valuesOf(name, 'CN');
const emails = (name) => valuesOf(name, 'emailAddress');
const kindOf = (element) => element.tag & 0x1f;

function addressText(bytes) {
  if (bytes.length === 4) return ip.format(bytes);
  if (bytes.length !== 16) return '<invalid length='.concat(bytes.length, '>');
  const groups = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i] << 8) | bytes[i + 1]).toString(16).toUpperCase());
  return groups.join(':');
}

// A text with characters that separate names is quoted, so that a name cannot pretend to be two.
const isPlain = (char) => char >= ' ' && char <= '~' && !'"\\,\''.includes(char);
const quoted = (text) => ([...text].every(isPlain) ? text : JSON.stringify(text).replaceAll(',', '\\u002c'));
const labelled = (label, text) => `${label}:${quoted(text)}`;

function generalName(element) {
  const kind = kindOf(element);
  if (kind in LABELS) return labelled(LABELS[kind], der.textOf(element));
  if (kind === ADDRESS) return `IP Address:${addressText(der.contentOf(element))}`;
  if (kind === DIRECTORY) {
    const text = attributes(der.childrenOf(element)[0])
      .reverse()
      .map(([type, value]) => `${type}=${escaped(value)}`);
    return labelled('DirName', text.join(','));
  }
  if (kind === REGISTERED) return `Registered ID:${der.oidOf(element)}`;
  return 'othername:<unsupported>';
}

const alternatives = (extension) => der.childrenOf(extension).map(generalName).join(', ');

function access(extension) {
  const texts = der.childrenOf(extension).map((description) => {
    const [method, location] = der.childrenOf(description);
    const oid = der.oidOf(method);
    return `${ACCESS[oid] ?? oid} - ${generalName(location)}`;
  });
  return texts.join('\n');
}

const ofKind = (extension, kind) =>
  der
    .childrenOf(extension)
    .filter((element) => kindOf(element) === kind)
    .map(der.textOf);

function hasAddress(extension, text) {
  const wanted = ip.parse(text);
  if (wanted === undefined) return false;
  const isEqual = (bytes) => bytes.length === wanted.length && bytes.every((byte, i) => byte === wanted[i]);
  return der.childrenOf(extension).some((element) => kindOf(element) === ADDRESS && isEqual(der.contentOf(element)));
}

// The part of an address before the last @ is compared exactly, the host without the case.
function sameEmail(one, other) {
  const split = (text) => [text.slice(0, text.lastIndexOf('@')), text.slice(text.lastIndexOf('@')).toLowerCase()];
  const [left, right] = [split(one), split(other)];
  return left[0] === right[0] && left[1] === right[1];
}

// Returns the name in the certificate that matches a host, or undefined.
function matchHost(alternativeNames, subjectNames, host, flags) {
  const wanted = host.toLowerCase();
  const usesSubject = (flags & NEVER_SUBJECT) === 0 && (alternativeNames.length === 0 || (flags & ALWAYS_SUBJECT) !== 0);
  const candidates = usesSubject ? [...alternativeNames, ...subjectNames] : alternativeNames;
  return candidates.find((name) => matches(name.toLowerCase(), wanted, (flags & NO_WILDCARDS) === 0));
}

function matches(pattern, host, wildcards) {
  if (pattern === host) return true;
  const [first, ...rest] = pattern.split('.');
  const [label, ...others] = host.split('.');
  if (!wildcards || rest.length < 2 || rest.join('.') !== others.join('.') || first.startsWith('xn--')) return false;
  const star = first.indexOf('*');
  if (star < 0 || first.indexOf('*', star + 1) >= 0 || label.startsWith('xn--') !== first.startsWith('xn--')) return false;
  const [before, after] = [first.slice(0, star), first.slice(star + 1)];
  return label.length >= first.length - 1 + (first === '*' ? 1 : 0) && label.startsWith(before) && label.endsWith(after);
}

module.exports = { lines, object, commonNames, emails, alternatives, access, ofKind, hasAddress, sameEmail, matchHost };
