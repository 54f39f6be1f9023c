// The users and groups in the files passwd and group. Next: commands/identity.js and
// commands/switch-user.js, which use the names.

import fs from 'node:fs';

function linesOf(path) {
  let text;
  try {
    text = fs.readFileSync(path, 'utf8');
  } catch {
    return []; // without the files, users and groups have only numbers
  }
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length > 2 && /^\d+$/.test(fields[2]));
}

const find = (path, key) => linesOf(path).find(([name, , id]) => (typeof key === 'number' ? Number(id) === key : name === key));

/** Returns the user of a name or a number: { name, uid, gid, home, shell }, or undefined. */
export function userOf(key) {
  const fields = find('/etc/passwd', key);
  if (fields === undefined) return undefined;
  const [name, , uid, gid, , home, shell] = fields;
  return { name, uid: Number(uid), gid: Number(gid), home: home || '/', shell: shell || '/bin/sh' };
}

/** Returns the group of a name or a number: { name, gid }, or undefined. */
export function groupOf(key) {
  const fields = find('/etc/group', key);
  return fields === undefined ? undefined : { name: fields[0], gid: Number(fields[2]) };
}

/** Returns the number that `text` names: a name in `path`, or a decimal number. */
export const idOf = (path, text) => {
  const fields = find(path, text);
  if (fields !== undefined) return Number(fields[2]);
  return /^\d+$/.test(text) ? Number(text) : undefined;
};

/** Returns functions that return the name of a user and of a group, or the number as text. */
export function names() {
  const table = (path) => new Map(linesOf(path).map(([name, , id]) => [Number(id), name]));
  const [users, groups] = [table('/etc/passwd'), table('/etc/group')];
  return { user: (uid) => users.get(uid) ?? String(uid), group: (gid) => groups.get(gid) ?? String(gid) };
}
