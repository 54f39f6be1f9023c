// The user of the process (node_credentials.cc). The sandbox has one user, and no way to become
// another user. The kernel checks the user's access to files. Next: os.js, which names the user.
'use strict';

const USER_ID = 1000;
const EPERM = 1;

// The users and groups of the sandbox: name → number.
const USERS = { __proto__: null, root: 0, nobody: 65534, user: USER_ID };
const GROUPS = { __proto__: null, root: 0, nogroup: 65534, user: USER_ID };

// Node's JavaScript turns these results into ERR_UNKNOWN_CREDENTIAL.
const UNKNOWN = 1;
const UNKNOWN_GROUP = 2;

module.exports = function credentials(binding) {
  binding.safeGetenv = (key) => native.env()[key];
  binding.getTempDir = temporaryFolder;
  for (const name of ['getuid', 'geteuid', 'getgid', 'getegid']) binding[name] = () => USER_ID;
  binding.getgroups = () => [USER_ID];
  for (const name of ['setuid', 'seteuid']) binding[name] = (user) => become(idOf(user, USERS), name);
  for (const name of ['setgid', 'setegid']) binding[name] = (group) => become(idOf(group, GROUPS), name);
  binding.initgroups = (user, group) => {
    if (typeof user === 'number' ? !Object.values(USERS).includes(user) : idOf(user, USERS) === undefined) return UNKNOWN;
    if (idOf(group, GROUPS) === undefined) return UNKNOWN_GROUP;
    throw notPermitted('initgroups');
  };
  binding.setgroups = (groups) => {
    const unknown = groups.findIndex((group) => idOf(group, GROUPS) === undefined);
    if (unknown >= 0) return unknown + 1;
    throw notPermitted('setgroups');
  };
};

// Returns the folder for temporary files that the environment names, or undefined. Removes one
// slash at the end of the path, as Node's C++ does.
function temporaryFolder() {
  const env = native.env();
  const folder = env.TMPDIR || env.TMP || env.TEMP;
  return folder !== undefined && folder.length > 1 && folder.endsWith('/') ? folder.slice(0, -1) : folder;
}

const idOf = (who, table) => (typeof who === 'number' ? who : table[who]);

function become(id, syscall) {
  if (id === undefined) return UNKNOWN;
  if (id === USER_ID) return 0;
  throw notPermitted(syscall);
}

// Makes Node's ErrnoException, which differs from Node's UVException: the message has other words,
// and the number is positive.
function notPermitted(syscall) {
  const error = new Error('EPERM, Operation not permitted');
  error.errno = EPERM;
  error.code = 'EPERM';
  error.syscall = syscall;
  return error;
}
