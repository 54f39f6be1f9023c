// What: who the process runs as. In the sandbox there is one user, the one whose rights the kernel checks.
'use strict';

const USER_ID = 1000;

module.exports = function credentials(binding) {
  binding.safeGetenv = (key) => native.env()[key];
  binding.getTempDir = () => native.env().TMPDIR || '/tmp';
  for (const name of ['getuid', 'geteuid', 'getgid', 'getegid']) binding[name] = () => USER_ID;
  binding.getgroups = () => [USER_ID];
};
