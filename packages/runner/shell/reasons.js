// The reasons of failed calls, in the words of the usual commands. If a permission denied the call,
// the reason also names the permission, the rule, and the option that can allow the call. Every
// error of Node's library has the same words (../bootstrap/errors/denials.js).

const REASONS = {
  __proto__: null,
  EACCES: 'Permission denied',
  EEXIST: 'File exists',
  EISDIR: 'Is a directory',
  ENOENT: 'No such file or directory',
  ENOSPC: 'No space left on device',
  ENOTDIR: 'Not a directory',
  EPERM: 'Operation not permitted',
  EROFS: 'Read-only file system',
};
const DENIAL = / \(the permission .*\)$/s;

/** Returns the reason of an error of `fs`. Other errors keep their message. */
export function reasonOf({ code, permission, message }) {
  const reason = REASONS[code];
  if (reason === undefined) return message;
  return permission === undefined ? reason : `${reason}${DENIAL.exec(message)?.[0] ?? ''}`;
}
