// Converts the error of a binding's call to the fields that the guest receives: name, message, code
// and facts.
//
// A handler's message may reveal the host machine. The paths of the error, paths below the app's
// working directory and the user's home, and `file:` URLs are replaced. Lines of a stack are
// removed. Next: `service.ts`.

import { homedir } from 'node:os';
import type { BindingErrorCode, BindingFacts } from '../errors/codes.js';

/** An error in the form that is sent to the guest. */
export interface FailureFields {
  readonly name: string;
  readonly message: string;
  readonly code: string | number;
  readonly [fact: string]: unknown;
}

/** A failure that this package detects, such as an invalid input. The guest receives `fields`. */
export class BindingFailure extends Error {
  readonly fields: FailureFields;

  constructor(code: BindingErrorCode, message: string, facts: BindingFacts[BindingErrorCode] = {}) {
    super(message);
    this.fields = { name: 'Error', message, code, ...facts };
  }
}

const MAX_MESSAGE_CHARS = 4_096;
const NAME = /^[A-Za-z_$][\w$]{0,63}$/;
const CODE = /^[\w.-]{1,64}$/;
const HIDDEN = '[path]';

/**
 * Returns the fields of a thrown value. If a getter of the value throws, returns fields with a
 * general message.
 */
export function failureOf(thrown: unknown): FailureFields {
  if (thrown instanceof BindingFailure) return thrown.fields;
  try {
    return describe(thrown);
  } catch {
    return failed('the handler threw something that cannot be described');
  }
}

function describe(thrown: unknown): FailureFields {
  if (typeof thrown === 'string') return failed(cleaned(thrown));
  if (typeof thrown !== 'object' || thrown === null) return failed(String(thrown));
  const { name, message, code, path, dest } = thrown as Record<string, unknown>;
  const text = typeof message === 'string' ? message : 'the handler threw something that is no error';
  const isCode = typeof code === 'number' ? Number.isFinite(code) : typeof code === 'string' && CODE.test(code);
  return {
    name: typeof name === 'string' && NAME.test(name) ? name : 'Error',
    message: cleaned(text, [path, dest]),
    code: isCode ? (code as string | number) : 'ERR_BINDING_FAILED',
  };
}

const failed = (message: string): FailureFields => ({ name: 'Error', message, code: 'ERR_BINDING_FAILED' });

function cleaned(message: string, ownPaths: readonly unknown[] = []): string {
  let text = message
    .replace(/\n\s+at [^\n]*/g, '')
    .replace(/file:\/\/[^\s'")]+/g, HIDDEN)
    .slice(0, MAX_MESSAGE_CHARS);
  for (const path of ownPaths) if (typeof path === 'string' && path.length > 1) text = text.replaceAll(path, HIDDEN);
  for (const folder of [process.cwd(), homedir()]) {
    if (folder.length > 1 && text.includes(folder)) text = text.replace(pathsIn(folder), HIDDEN);
  }
  return text;
}

// Returns a pattern that matches the path of `folder`, and each path below `folder`.
const pathsIn = (folder: string): RegExp =>
  new RegExp(`${folder.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?:[/\\\\][^\\s'"):]*)?`, 'g');
