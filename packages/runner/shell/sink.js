// What: whether output of the moment goes to this process's descriptors or is somebody's value: that of a command substitution, of a redirected
// group, of the left side of a pipe. just-bash keeps all output as text until its script ends; where it is nobody's value, the shell writes
// it out after each pipeline, so that it appears when it is made.
// Next: interpreter.js.

import { stdoutAsBytes } from 'just-bash';
import { write } from './descriptors.js';

/** `out`, `err`: whether standard output and standard error of the moment are this process's. */
export const sink = { out: true, err: true };

/** Runs `work` while output is kept: `out` and `err` say which. */
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

/** Text that is bytes already (one for each character), or text: what can be told by looking. */
export function bytesOf(text) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: every character up to 0xff is a byte
  return /^[\x00-\xff]*$/.test(text) && isUtf8(text) ? Buffer.from(text, 'latin1') : Buffer.from(text, 'utf8');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the bytes below 0x80
const isUtf8 = (text) => /^[\x00-\x7f]*$/.test(text) || !Buffer.from(text, 'latin1').toString('utf8').includes('\ufffd');

/** Writes out what of a result is nobody's value. */
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
