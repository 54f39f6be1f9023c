// `toLocaleString` of numbers, in English: grouping, fraction digits, percent and currencies.
// Rounding is half away from zero on the decimal digits, as ICU rounds by default.
'use strict';

const SYMBOLS = {
  __proto__: null,
  USD: '$',
  EUR: '€',
  GBP: '£',
  JPY: '¥',
  INR: '₹',
  CNY: 'CN¥',
  KRW: '₩',
  CAD: 'CA$',
  AUD: 'A$',
  BRL: 'R$',
};
const WITHOUT_CENTS = { __proto__: null, JPY: true, KRW: true };
const MAX_DIGITS = 100;

function formatNumber(value, options) {
  const { style = 'decimal', currency, useGrouping = true, minimumIntegerDigits = 1, signDisplay = 'auto' } = options ?? {};
  oneOf('style', style, ['decimal', 'percent', 'currency']);
  if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.');
  const code = style === 'currency' ? `${currency}`.toUpperCase() : undefined;
  const [least, most] = fractionDigits(options ?? {}, style, code);
  const digits = decimal(value, style === 'percent' ? 2 : 0);
  const negative = digits.negative;
  let body;
  if (digits.text !== undefined) {
    body = digits.text;
  } else {
    const { whole, fraction } = round(digits, least, most);
    const padded = whole.padStart(minimumIntegerDigits, '0');
    body = (useGrouping === false || useGrouping === 'false' ? padded : group(padded)) + (fraction === '' ? '' : `.${fraction}`);
  }
  if (style === 'percent') body += '%';
  if (code !== undefined) body = (SYMBOLS[code] ?? `${code}\u00a0`) + body;
  const sign = negative ? (signDisplay === 'never' ? '' : '-') : signDisplay === 'always' ? '+' : '';
  return sign + body;
}

function oneOf(name, value, allowed) {
  if (!allowed.includes(value))
    throw new RangeError(`Value ${value} out of range for Intl.NumberFormat options property ${name}`);
}

function fractionDigits({ minimumFractionDigits, maximumFractionDigits }, style, code) {
  const usual = code === undefined ? 0 : WITHOUT_CENTS[code] ? 0 : 2;
  const usualMost = style === 'decimal' ? 3 : usual;
  const least = digitOption('minimumFractionDigits', minimumFractionDigits);
  const most = digitOption('maximumFractionDigits', maximumFractionDigits);
  if (least !== undefined && most !== undefined && least > most)
    throw new RangeError('maximumFractionDigits value is out of range.');
  return [least ?? Math.min(usual, most ?? usual), most ?? Math.max(usualMost, least ?? usual)];
}

function digitOption(name, value) {
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!(number >= 0 && number <= MAX_DIGITS)) throw new RangeError(`${name} value is out of range.`);
  return Math.floor(number);
}

// Returns the value's shortest decimal digits: { negative, digits, point }, or { negative, text }
// for a value without digits.
function decimal(value, shift) {
  if (typeof value === 'bigint') {
    const text = `${value < 0n ? -value : value}`;
    return { negative: value < 0n, digits: text, point: text.length + shift };
  }
  if (Number.isNaN(value)) return { negative: false, text: 'NaN' };
  const negative = value < 0 || Object.is(value, -0);
  if (!Number.isFinite(value)) return { negative, text: '∞' };
  const [mantissa, exponent] = Math.abs(value).toExponential().split('e');
  return { negative, digits: mantissa.replace('.', ''), point: Number(exponent) + 1 + shift };
}

function round({ digits, point }, least, most) {
  const keep = point + most;
  let kept = keep <= 0 ? '' : digits.slice(0, keep).padEnd(keep, '0');
  if (keep >= 0 && keep < digits.length && digits.charCodeAt(keep) >= 53) kept = increment(kept);
  const all = kept.padStart(most + 1, '0');
  const whole = all.slice(0, all.length - most).replace(/^0+(?=\d)/, '');
  let fraction = all.slice(all.length - most);
  while (fraction.length > least && fraction.endsWith('0')) fraction = fraction.slice(0, -1);
  return { whole, fraction };
}

function increment(digits) {
  let at = digits.length - 1;
  while (at >= 0 && digits[at] === '9') at--;
  const zeros = '0'.repeat(digits.length - 1 - at);
  return at < 0 ? `1${zeros}` : digits.slice(0, at) + String.fromCharCode(digits.charCodeAt(at) + 1) + zeros;
}

function group(digits) {
  let out = digits.slice(0, digits.length % 3);
  for (let at = digits.length % 3; at < digits.length; at += 3) out += (out === '' ? '' : ',') + digits.slice(at, at + 3);
  return out;
}

module.exports = { formatNumber };
