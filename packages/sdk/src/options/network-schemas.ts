// The options of calls about a runtime's network as zod schemas.

import * as z from 'zod/mini';
import { isBody, isHeaders, LOOPBACK_HOST, METHOD, NETWORK_WHOLE, REQUEST_PATH } from './network.js';

function whole(option: keyof typeof NETWORK_WHOLE, unit: string) {
  const { min, max } = NETWORK_WHOLE[option];
  const error = `${unit} from ${min} to ${max}`;
  return z.optional(z.int({ error }).check(z.gte(min, { error }), z.lte(max, { error })));
}

function matching(pattern: RegExp, error: string) {
  return z.optional(z.string({ error }).check(z.regex(pattern, { error })));
}

function custom<T>(test: (value: unknown) => boolean, error: string) {
  return z.optional(z.custom<T>(test, { error }));
}

function strict<T extends z.core.$ZodLooseShape>(shape: T) {
  const error = 'an object with options';
  return z.strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? undefined : error) });
}

const signal = custom<AbortSignal>((value) => value instanceof AbortSignal, 'an AbortSignal');
const timeoutMs = whole('timeoutMs', 'a whole number of milliseconds');

/** By the calls that they belong to. */
export const NETWORK_SCHEMAS = {
  'waitForListener()': strict({ timeoutMs, signal }),
  'exposePort()': strict({
    host: matching(LOOPBACK_HOST, "an address of this machine's loopback: 127.0.0.1, ::1 or localhost"),
    hostPort: whole('hostPort', 'a whole number'),
  }),
  'fetch()': strict({
    method: matching(METHOD, 'a method of HTTP such as GET'),
    path: matching(REQUEST_PATH, 'a path that begins with / and has no white space'),
    headers: custom(isHeaders, 'an object, pairs, or Headers'),
    body: custom(isBody, 'text, a Uint8Array, or something to iterate over asynchronously'),
    signal,
    timeoutMs,
    maxResponseBytes: whole('maxResponseBytes', 'a whole number of bytes'),
  }),
};
