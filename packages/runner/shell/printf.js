// `printf` and `echo -e` write bytes: `\xe2` and `\342` are one byte each. just-bash treats the
// result as text, in which such an escape is a character. This file replaces such escapes, and all
// characters beyond ASCII, by one character for each byte. Then just-bash formats the words, and
// the result is declared to be bytes. Next: commands.js.

import { encodeUtf8ToBytes } from 'just-bash';

const latin = encodeUtf8ToBytes;
const isAscii = (text) => !/[^\0-\x7f]/.test(text);

// An escape of a format or of a `%b` argument: a backslash and the part that selects a character.
// A `%b` argument and `echo -e` also have `\0NNN`.
const ESCAPE = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|(0?[0-7]{1,3})|(.))/gs;

// Replaces the escapes above ASCII. Escapes of ASCII characters stay for just-bash, because the
// character `%` or a backslash would have a meaning in the format.
function bytesOfEscapes(text, zeroFirst) {
  return text.replace(ESCAPE, (whole, hex, short, long, octal) => {
    if (octal !== undefined) {
      const digits = zeroFirst || octal.length <= 3 ? octal : octal.slice(0, 3);
      const code = Number.parseInt(digits, 8) & 0xff;
      return code < 0x80 ? whole : String.fromCharCode(code) + octal.slice(digits.length);
    }
    if (hex !== undefined) {
      const code = Number.parseInt(hex, 16);
      return code < 0x80 ? whole : String.fromCharCode(code);
    }
    const code = Number.parseInt(short ?? long ?? '0', 16);
    return code < 0x80 || code > 0x10ffff ? whole : latin(String.fromCodePoint(code));
  });
}

const CONVERSION = /%[-+ #0']*(\*|\d*)(?:\.(\*|\d*))?[hlLjzt]*(\(.*?\)T|.)/g;

// Returns the conversions that consume the arguments, in order.
function consumers(format) {
  const kinds = [];
  for (const [, width, precision, conversion] of format.matchAll(CONVERSION)) {
    if (width === '*') kinds.push('*');
    if (precision === '*') kinds.push('*');
    if (conversion !== '%') kinds.push(conversion);
  }
  return kinds;
}

/** Runs just-bash's `printf`; `run` runs the command with other words. */
export async function printf(args, run) {
  const at = args[0] === '--' ? 1 : 0;
  const format = args[at];
  if (format === undefined || (at === 0 && /^-./.test(format))) return run(args);
  const kinds = consumers(format);
  // The quotes of `%q` depend on characters and not on bytes.
  if (kinds.includes('q') || (isAscii(args.join('')) && !args.some((arg) => arg.includes('\\')))) return run(args);
  const words = args.slice(at + 1).map((arg, index) => {
    const kind = kinds[index % kinds.length];
    return kind === 'b' ? bytesOfEscapes(latin(arg), true) : kind === 's' ? latin(arg) : arg;
  });
  return bytes(await run([...args.slice(0, at), bytesOfEscapes(latin(format), false), ...words]));
}

/** Runs just-bash's `echo`; `run` runs the command with other words. */
export async function echo(args, run) {
  const first = args.findIndex((arg) => !/^-[neE]+$/.test(arg));
  const options = args.slice(0, first < 0 ? args.length : first);
  const words = args.slice(options.length);
  if (!/e[^E]*$/.test(options.join('')) || !words.some((word) => word.includes('\\'))) return run(args);
  return bytes(await run([...options, ...words.map((word) => bytesOfEscapes(latin(word), true))]));
}

const bytes = (result) => (isAscii(result.stdout) ? result : { ...result, stdoutKind: 'bytes' });
