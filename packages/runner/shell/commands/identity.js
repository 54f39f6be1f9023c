// id, whoami, groups, logname, chown and chgrp. Next: switch-user.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { idOf, names, userOf } from '../accounts.js';
import { reasonOf } from '../reasons.js';

const ok = (stdout = '') => ({ stdout, stderr: '', exitCode: 0 });
const fail = (stderr, exitCode = 1) => ({ stdout: '', stderr: `${stderr}\n`, exitCode });
const UNCHANGED = -1;

// The ids of this process, or of the user `name`: { uid, gid, groups }.
function idsOf(name, isReal) {
  if (name === undefined) {
    const [uid, gid] = isReal ? [process.getuid(), process.getgid()] : [process.geteuid(), process.getegid()];
    return { uid, gid, groups: [...new Set([gid, ...process.getgroups()])] };
  }
  const account = userOf(name) ?? userOf(/^\d+$/.test(name) ? Number(name) : undefined);
  return account && { uid: account.uid, gid: account.gid, groups: [account.gid] };
}

/** Runs `id [-u|-g|-G] [-n] [-r] [USER]`. */
export function id(args) {
  const flags = args.filter((arg) => /^-./.test(arg)).join('');
  const bad = /[^-ugGnr]/.exec(flags)?.[0];
  if (bad !== undefined) return fail(`id: invalid option -- '${bad}'`);
  const [name] = args.filter((arg) => !/^-./.test(arg));
  const ids = idsOf(name, flags.includes('r'));
  if (ids === undefined) return fail(`id: '${name}': no such user`);
  const known = names();
  const show = (number, kind) => (flags.includes('n') ? known[kind](number) : String(number));
  if (flags.includes('u')) return ok(`${show(ids.uid, 'user')}\n`);
  if (flags.includes('G')) return ok(`${ids.groups.map((gid) => show(gid, 'group')).join(' ')}\n`);
  if (flags.includes('g')) return ok(`${show(ids.gid, 'group')}\n`);
  const named = (number, kind) => (known[kind](number) === String(number) ? `${number}` : `${number}(${known[kind](number)})`);
  const groups = ids.groups.map((gid) => named(gid, 'group')).join(',');
  return ok(`uid=${named(ids.uid, 'user')} gid=${named(ids.gid, 'group')} groups=${groups}\n`);
}

/** Runs `whoami`. */
export function whoami() {
  const uid = process.geteuid();
  const account = userOf(uid);
  return account === undefined ? fail(`whoami: cannot find name for user ID ${uid}`) : ok(`${account.name}\n`);
}

/** Runs `groups [USER]...`. */
export function groups(args) {
  const { group } = names();
  if (args.length === 0) return ok(`${idsOf().groups.map(group).join(' ')}\n`);
  const unknown = args.find((name) => idsOf(name) === undefined);
  if (unknown !== undefined) return fail(`groups: '${unknown}': no such user`);
  return ok(args.map((name) => `${name} : ${idsOf(name).groups.map(group).join(' ')}\n`).join(''));
}

/** Runs `logname`. */
export const logname = () => ok(`${names().user(process.getuid())}\n`);

function everyPath(path) {
  if (!fs.lstatSync(path).isDirectory()) return [path];
  return [path, ...fs.readdirSync(path).flatMap((name) => everyPath(posix.join(path, name)))];
}

// The ids that the first operand of `chown` names: [user, group]. An id is undefined if no user or
// group has the name.
function ownersIn(owner) {
  const whole = idOf('/etc/passwd', owner);
  if (whole !== undefined) return [whole, UNCHANGED];
  const at = owner.search(/[:.]/);
  if (at < 0) return [undefined, UNCHANGED];
  const [user, group] = [owner.slice(0, at), owner.slice(at + 1)];
  const uid = user === '' ? UNCHANGED : idOf('/etc/passwd', user);
  // `chown user:` also sets the user's own group.
  const gid = group !== '' ? idOf('/etc/group', group) : user === '' ? UNCHANGED : (userOf(uid)?.gid ?? UNCHANGED);
  return [uid, gid];
}

// Changes owners. `read` returns the ids that the first operand names.
function changeOwners(command, read) {
  return (args, { cwd }) => {
    const end = args.indexOf('--');
    const flags = args.filter((arg, index) => /^-./.test(arg) && (end < 0 || index < end));
    const operands = args.filter((arg, index) => index !== end && !flags.includes(arg));
    const isRecursive = flags.some((flag) => /^-[a-zA-Z]*R|^--recursive$/.test(flag));
    const staysAtLinks = isRecursive || flags.some((flag) => /^-[a-zA-Z]*h|^--no-dereference$/.test(flag));
    const reference = flags.find((flag) => flag.startsWith('--reference='))?.slice('--reference='.length);
    const paths = reference === undefined ? operands.slice(1) : operands;
    if (operands.length === 0 || paths.length === 0) return fail(`${command}: missing operand`);
    const ids = reference === undefined ? read(operands[0]) : referenced(command, posix.resolve(cwd, reference));
    if (ids[0] === undefined) return fail(`${command}: invalid user: '${operands[0]}'`);
    if (ids[1] === undefined) return fail(`${command}: invalid group: '${operands[0]}'`);
    let stderr = '';
    for (const path of paths) {
      try {
        const whole = posix.resolve(cwd, path);
        for (const each of isRecursive ? everyPath(whole) : [whole])
          if (staysAtLinks) fs.lchownSync(each, ...ids);
          else fs.chownSync(each, ...ids);
      } catch (error) {
        const verb = error.code === 'ENOENT' ? 'cannot access' : 'changing ownership of';
        stderr += `${command}: ${verb} '${path}': ${reasonOf(error)}\n`;
      }
    }
    return { ...ok(), stderr, exitCode: stderr === '' ? 0 : 1 };
  };
}

function referenced(command, path) {
  const { uid, gid } = fs.statSync(path);
  return command === 'chgrp' ? [UNCHANGED, gid] : [uid, gid];
}

export const chown = changeOwners('chown', ownersIn);
export const chgrp = changeOwners('chgrp', (group) => [UNCHANGED, idOf('/etc/group', group)]);
