// The users and groups of the process (node_credentials.cc). The kernel stores the ids and checks
// each change. Next: ../processes/accounts.js, which has the names; os.js.
'use strict';

const { messageOf, nameOf } = require('../errors/errno.js');
const { groupOf, groupsWith, ownIds, userOf } = require('../processes/accounts.js');
const { NUMBERS, sys } = require('../processes/calls.js');

// Node's JavaScript turns these results into ERR_UNKNOWN_CREDENTIAL.
const UNKNOWN = 1;
const UNKNOWN_GROUP = 2;

// Call → the kernel's number of the call.
const WHICH = { __proto__: null, setuid: 0, seteuid: 1, setgid: 2, setegid: 3 };
const GETTERS = { __proto__: null, getuid: 'uid', geteuid: 'euid', getgid: 'gid', getegid: 'egid' };

module.exports = function credentials(binding) {
  binding.safeGetenv = (key) => native.env()[key];
  binding.getTempDir = temporaryFolder;
  for (const [call, id] of Object.entries(GETTERS)) binding[call] = () => ownIds()[id];
  binding.getgroups = () => {
    const { groups, egid } = ownIds();
    return groups.includes(egid) ? groups : [...groups, egid];
  };
  for (const name of ['setuid', 'seteuid']) binding[name] = (user) => become(userIdOf(user), name);
  for (const name of ['setgid', 'setegid']) binding[name] = (group) => become(groupOf(group), name);
  binding.initgroups = (user, group) => {
    const account = userOf(user);
    if (account === undefined) return UNKNOWN;
    const gid = groupOf(group);
    if (gid === undefined) return UNKNOWN_GROUP;
    return setGroups([gid, ...groupsWith(account.name).filter((other) => other !== gid)], 'initgroups');
  };
  binding.setgroups = (groups) => {
    const ids = groups.map(groupOf);
    const unknown = ids.indexOf(undefined);
    if (unknown >= 0) return unknown + 1;
    return setGroups(ids, 'setgroups');
  };
};

// Returns the folder for temporary files that the environment names, or undefined. Removes one
// slash at the end of the path, as Node's C++ does.
function temporaryFolder() {
  const env = native.env();
  const folder = env.TMPDIR || env.TMP || env.TEMP;
  return folder !== undefined && folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder;
}

const userIdOf = (who) => (typeof who === 'number' ? who : userOf(who)?.uid);

function become(id, syscall) {
  if (id === undefined) return UNKNOWN;
  return checked(sys(NUMBERS.setId, WHICH[syscall], id), syscall);
}

const setGroups = (ids, syscall) => checked(sys(NUMBERS.setGroups, Uint32Array.from(ids)), syscall);

// Throws Node's ErrnoException, which differs from Node's UVException: the message has other words,
// and the number is positive.
function checked(result, syscall) {
  if (result >= 0) return 0;
  const [code, message] = [nameOf(result), messageOf(result)];
  const error = new Error(`${code}, ${message[0].toUpperCase()}${message.slice(1)}`);
  error.errno = -result;
  error.code = code;
  error.syscall = syscall;
  throw error;
}
