// Parses the JSON inputs of bindings, and encodes results and failures as JSON. An accepted input
// has bounded nesting, so that recursion over the input does not overflow the stack. An accepted
// input has no key `__proto__`, so that no copy of the input changes a prototype.
// Next: `service.ts`.

import { mayHaveProtoKey, ownsProtoKey } from '../proto-key.js';
import { BindingFailure } from './failure.js';

/** The deepest nesting of an input. */
const MAX_DEPTH = 128;

/**
 * Parses an input. Throws `ERR_BINDING_INPUT` if the text is not JSON, is nested too deeply, or has
 * a key `__proto__`.
 */
export function parseInput(name: string, bytes: Uint8Array): unknown {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BindingFailure('ERR_BINDING_INPUT', `The input of the binding '${name}' is not JSON`);
  }
  // Shorter text cannot exceed the depth, because a level needs two characters.
  if (text.length > 2 * MAX_DEPTH || mayHaveProtoKey(text)) inspect(name, value);
  return value;
}

function inspect(name: string, value: unknown): void {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new BindingFailure('ERR_BINDING_INPUT', `The input of the binding '${name}' is nested too deeply`);
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      if (ownsProtoKey(item)) {
        throw new BindingFailure('ERR_BINDING_INPUT', `The input of the binding '${name}' has a key '__proto__'`);
      }
      for (const inner of Object.values(item)) next.push(inner);
    }
    level = next;
  }
}

/**
 * Encodes a result as `=` and JSON. Throws `ERR_BINDING_OUTPUT` if the result is not JSON, or if
 * the JSON has more than `maxBytes` bytes.
 */
export function encodeResult(name: string, value: unknown, maxBytes: number): Uint8Array {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    throw new BindingFailure('ERR_BINDING_OUTPUT', `The result of the binding '${name}' cannot be written as JSON`);
  }
  const bytes = Buffer.from(`=${text ?? 'null'}`);
  if (bytes.length - 1 <= maxBytes) return bytes;
  const message = `The result of the binding '${name}' has ${bytes.length - 1} bytes, more than ${maxBytes}`;
  throw new BindingFailure('ERR_BINDING_OUTPUT', message, { bytes: bytes.length - 1, maxBytes });
}

/** Encodes a failure as `!` and JSON. */
export const encodeFailure = (fields: object): Uint8Array => Buffer.from(`!${JSON.stringify(fields)}`);
