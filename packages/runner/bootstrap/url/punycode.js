// What: domain names between Unicode and ASCII (RFC 3492). Node's deprecated `punycode` module has the same algorithm, but loading it warns.
'use strict';

const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 128;

function adapt(delta, count, first) {
  let k = 0;
  let rest = first ? Math.floor(delta / DAMP) : delta >> 1;
  rest += Math.floor(rest / count);
  for (; rest > ((BASE - T_MIN) * T_MAX) >> 1; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return Math.floor(k + ((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

const threshold = (k, bias) => (k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias);
const digitOf = (value) => String.fromCharCode(value < 26 ? value + 97 : value + 22);

function encodeLabel(label) {
  const points = Array.from(label, (char) => char.codePointAt(0));
  let output = points
    .filter((point) => point < 128)
    .map((point) => String.fromCharCode(point))
    .join('');
  let handled = output.length;
  const basic = handled;
  if (basic > 0) output += '-';
  let n = INITIAL_N;
  let delta = 0;
  let bias = INITIAL_BIAS;
  while (handled < points.length) {
    const next = Math.min(...points.filter((point) => point >= n));
    delta += (next - n) * (handled + 1);
    n = next;
    for (const point of points) {
      if (point < n) delta++;
      if (point !== n) continue;
      let q = delta;
      for (let k = BASE; ; k += BASE) {
        const t = threshold(k, bias);
        if (q < t) break;
        output += digitOf(t + ((q - t) % (BASE - t)));
        q = Math.floor((q - t) / (BASE - t));
      }
      output += digitOf(q);
      bias = adapt(delta, handled + 1, handled === basic);
      delta = 0;
      handled++;
    }
    delta++;
    n++;
  }
  return output;
}

// undefined when it is not punycode.
function decodeLabel(text) {
  const split = text.lastIndexOf('-');
  const output = split > 0 ? Array.from(text.slice(0, split)) : [];
  let n = INITIAL_N;
  let i = 0;
  let bias = INITIAL_BIAS;
  for (let index = split > 0 ? split + 1 : 0; index < text.length; ) {
    const before = i;
    for (let w = 1, k = BASE; ; k += BASE) {
      if (index >= text.length) return undefined;
      const digit = Number.parseInt(text[index], 36);
      const value = digit < 10 ? digit + 26 : digit - 10;
      index++;
      if (Number.isNaN(digit)) return undefined;
      i += value * w;
      const t = threshold(k, bias);
      if (value < t) break;
      w *= BASE - t;
    }
    bias = adapt(i - before, output.length + 1, before === 0);
    n += Math.floor(i / (output.length + 1));
    i %= output.length + 1;
    if (n > 0x10ffff) return undefined;
    output.splice(i++, 0, String.fromCodePoint(n));
  }
  return output.join('');
}

// undefined when the name cannot be a domain.
function toASCII(domain) {
  if (/^[\x21-\x7e]*$/.test(domain) && !/xn--/i.test(domain)) return domain.toLowerCase();
  const labels = domain
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\u00ad\u200b\u2060\ufeff]/g, '')
    .replace(/[\u3002\uff0e\uff61]/g, '.')
    .split('.');
  const ascii = labels.map((label) => (/^[\0-\x7f]*$/.test(label) ? label : `xn--${encodeLabel(label)}`));
  const broken = ascii.some((label) => label.startsWith('xn--') && !decodeLabel(label.slice(4)));
  return broken ? undefined : ascii.join('.');
}

function toUnicode(domain) {
  return domain
    .split('.')
    .map((label) => (label.startsWith('xn--') ? (decodeLabel(label.slice(4).toLowerCase()) ?? label) : label))
    .join('.');
}

module.exports = { toASCII, toUnicode };
