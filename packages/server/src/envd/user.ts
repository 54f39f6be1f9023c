// The users of a sandbox, and their environment and home directory.

import { HOME } from '../sandboxes/base.js';

/** A user that programs and file calls may name. */
export interface User {
  readonly name: 'user' | 'root';
  readonly home: string;
}

const USERS: Readonly<Record<string, User>> = Object.assign(Object.create(null), {
  user: { name: 'user', home: HOME },
  root: { name: 'root', home: '/root' },
});

/** The user of calls that name no user. */
export const DEFAULT_USER = USERS.user as User;

/** Returns the user `name`, or `undefined` if no such user exists. */
export const userOf = (name: string): User | undefined => USERS[name];

/**
 * Returns the user of the header `authorization`, as `Basic` with a name and no password. Without
 * the header, returns the user `otherwise`.
 */
export function userOfHeader(
  header: string | null | undefined,
  otherwise = DEFAULT_USER.name as string,
): { name: string; user: User | undefined } {
  if (header === null || header === undefined || header === '') return { name: otherwise, user: userOf(otherwise) };
  const [, encoded] = /^Basic ([A-Za-z0-9+/=]*)$/i.exec(header) ?? [];
  const name = encoded === undefined ? header : (Buffer.from(encoded, 'base64').toString('utf8').split(':', 1)[0] as string);
  return { name, user: userOf(name) };
}

/** Returns the environment of a user's programs. */
export const environmentOf = ({ name, home }: User): Record<string, string> => ({ HOME: home, USER: name, LOGNAME: name });
