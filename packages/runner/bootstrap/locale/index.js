// The methods of built-in prototypes that depend on the locale, in English, and the names of time
// zones. A Node without other locales' data (`small-icu`) returns equal results. `Intl` is absent,
// because a program that finds `Intl` expects the whole API. Next: collate.js, numbers.js,
// dates.js, zone-names.js.
'use strict';

const { compareTexts } = require('./collate.js');
const { formatNumber } = require('./numbers.js');
const { formatDate } = require('./dates.js');
const { zoneName } = require('./zone-names.js');

module.exports = function installLocale() {
  native.setZoneNames(zoneName);
  method(String, 'localeCompare', 1, function localeCompare(that, locales, options) {
    if (this === null || this === undefined) throw new TypeError('String.prototype.localeCompare called on null or undefined');
    return compareTexts(`${this}`, `${that}`, options);
  });
  numbers(Number, Number.prototype.valueOf);
  numbers(BigInt, BigInt.prototype.valueOf);
  date('toLocaleString', { date: true, time: true });
  date('toLocaleDateString', { date: true, time: false });
  date('toLocaleTimeString', { date: false, time: true });
};

const timeOf = Date.prototype.getTime;

function numbers(owner, numberOf) {
  const name = 'toLocaleString';
  const methods = {
    [name](_locales, options) {
      return formatNumber(numberOf.call(this), options);
    },
  };
  method(owner, name, 0, methods[name]);
}

function date(name, wanted) {
  const methods = {
    [name](locales, options) {
      return formatDate(timeOf.call(this), options, wanted);
    },
  };
  method(Date, name, 0, methods[name]);
}

function method(owner, name, length, value) {
  Object.defineProperty(value, 'length', { value: length, configurable: true });
  Object.defineProperty(owner.prototype, name, { value, writable: true, configurable: true });
}
