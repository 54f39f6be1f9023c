// The ids and tokens that the server hands out.
//
// The first six characters of a sandbox's id are the home: the server that made the id. On one
// machine, all ids have one home. With many machines, the home says which machine to ask first.

import { randomBytes, randomInt } from 'node:crypto';

const CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';
const HOME_LENGTH = 6;
const OWN_LENGTH = 18;
const TEMPLATE_LENGTH = 20;
const TOKEN_BYTES = 32;
const SANDBOX_ID = new RegExp(`^i[a-z0-9]{${HOME_LENGTH + OWN_LENGTH - 1}}$`);

/** Returns a new home: `i` and five lower-case letters or digits. */
export const newHome = (): string => `i${randomText(HOME_LENGTH - 1)}`;

/**
 * Returns a new id of a sandbox: the home and 18 lower-case letters or digits. The id is a label of
 * DNS and the value of a header.
 */
export const newSandboxId = (home: string): string => home + randomText(OWN_LENGTH);

/** Returns the home of a sandbox's id, or `undefined` for text of another form. */
export const homeOf = (id: string): string | undefined => (SANDBOX_ID.test(id) ? id.slice(0, HOME_LENGTH) : undefined);

/** The form of a sandbox's id in words, for messages. */
export const SANDBOX_ID_FORM = `the home of the server and ${OWN_LENGTH} lower-case letters or digits`;

/** Returns a new id of a snapshot, a template, a volume or a secret. */
export const newTemplateId = (): string => randomText(TEMPLATE_LENGTH);

/** Returns a new token of a volume: 32 random bytes in hex. */
export const newToken = (): string => randomBytes(TOKEN_BYTES).toString('hex');

/** Returns a new key of the API, in the form that older clients check. */
export const newKey = (): string => `e2b_${randomBytes(20).toString('hex')}`;

/** Returns the id of the sandbox in `text`. Older clients append a hyphen and the client's id. */
export const sandboxIdOf = (text: string): string => text.split('-', 1)[0] as string;

function randomText(length: number): string {
  let text = '';
  for (let at = 0; at < length; at++) text += CHARACTERS[randomInt(CHARACTERS.length)];
  return text;
}
