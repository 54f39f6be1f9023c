// The ids and tokens that the server hands out.

import { randomBytes, randomInt } from 'node:crypto';

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 20;
const TOKEN_BYTES = 32;

/**
 * Returns a new id of a sandbox: `i` and 20 lower-case letters or digits. The id is a label of DNS
 * and the value of a header.
 */
export const newSandboxId = (): string => `i${randomText(ID_LENGTH)}`;

/** Returns a new id of a snapshot or a template: 20 lower-case letters or digits. */
export const newTemplateId = (): string => randomText(ID_LENGTH);

/** Returns a new access token: 32 random bytes in hex. */
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** Returns the id of the sandbox in `text`. Older clients append a hyphen and the client's id. */
export const sandboxIdOf = (text: string): string => text.split('-', 1)[0] as string;

function randomText(length: number): string {
  let text = '';
  for (let at = 0; at < length; at++) text += CHARACTERS[randomInt(CHARACTERS.length)];
  return text;
}
