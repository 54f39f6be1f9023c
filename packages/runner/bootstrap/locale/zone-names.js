// The name of a time zone at the end of `Date.prototype.toString`. The shim calls `zoneName` for
// every zone but UTC.
'use strict';

const data = require('./data.js');

const { names } = data;
const zones = Object.assign({ __proto__: null }, data.zones);

function zoneName(zone, offset, isSummer) {
  const known = zones[zone];
  return known === undefined ? offsetName(offset) : names[known[isSummer ? 1 : 0]];
}

// Returns the English abbreviation of a zone, such as EST. Few zones have an abbreviation; for
// other zones returns UTC, GMT, or the offset, such as GMT+5:30.
function shortZoneName(zone, offset, isSummer) {
  const known = zones[zone];
  if (known?.length === 4) return names[known[isSummer ? 3 : 2]];
  if (offset === 0) return zone === 'GMT' ? 'GMT' : 'UTC';
  const minutes = Math.trunc(Math.abs(offset) / 60);
  const rest = minutes % 60 === 0 ? '' : `:${two(minutes % 60)}`;
  return `GMT${offset < 0 ? '-' : '+'}${Math.trunc(minutes / 60)}${rest}`;
}

// Returns ICU's name of a zone without a name: GMT+05:30.
function offsetName(offset) {
  const minutes = Math.trunc(Math.abs(offset) / 60);
  return `GMT${offset < 0 ? '-' : '+'}${two(Math.trunc(minutes / 60))}:${two(minutes % 60)}`;
}

const two = (number) => (number < 10 ? `0${number}` : `${number}`);

module.exports = { zoneName, shortZoneName };
