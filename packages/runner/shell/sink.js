// Records whether output is currently written to this process's descriptors or kept as a value.
// Values are the output of a command substitution, of a redirected group, and of the left side of a
// pipe. The package just-bash keeps all output as text until its script ends. This shell writes
// output that is no value after each pipeline, so that the output appears early. Next:
// interpreter.js.

import { encodeUtf8ToBytes, stdoutAsBytes } from 'just-bash';
import { write } from './descriptors.js';

/**
 * `out` is true if standard output is written to this process's descriptor. `err` has the same
 * meaning for standard error.
 */
export const sink = { out: true, err: true };

/** Runs `work` while the streams that `out` and `err` select are kept as values. */
export async function keeping({ out, err }, work) {
  const before = { ...sink };
  sink.out &&= !out;
  sink.err &&= !err;
  try {
    return await work();
  } finally {
    Object.assign(sink, before);
  }
}

/**
 * Returns the bytes of a text. If all characters are below 0x100 and form UTF-8 as bytes, each
 * character is one byte. Other texts are encoded as UTF-8.
 */
export function bytesOf(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: every character up to 0xff is a byte
  return /^[\x00-\xff]*$/.test(text) && isUtf8(text)
    ? Buffer.from(text, 'latin1')
    : Buffer.from(encodeUtf8ToBytes(text), 'latin1');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the bytes below 0x80
const isUtf8 = (text) => /^[\x00-\x7f]*$/.test(text) || !Buffer.from(text, 'latin1').toString('utf8').includes('\ufffd');

/**
 * Writes the streams of a result that are not kept as values. Returns the result without these
 * streams.
 */
export function flush(result) {
  if (result.stderr && sink.err) {
    write(2, bytesOf(result.stderr));
    result = { ...result, stderr: '' };
  }
  if (result.stdout && sink.out) {
    write(1, Buffer.from(stdoutAsBytes(result), 'latin1'));
    result = { ...result, stdout: '', stdoutKind: undefined };
  }
  return { ...result, internalOutputAccounting: { stdout: 0, stderr: 0 } };
}
