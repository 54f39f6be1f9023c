// The users and groups of the runtime: the lines of the files passwd and group, and the ids of this
// process. The kernel knows only numbers. If the policy denies a file, the names of the base tree
// apply. Next: ../internal-bindings/credentials.js and ../internal-bindings/os.js.
'use strict';

const { readFile } = require('../fs/calls.js');
const { NUMBERS, sys } = require('./calls.js');

// The kernel reports six ids and at most 16 groups.
const MOST_IDS = 22;
const FIRST_ROOM = 1_024;
const IDS = ['uid', 'euid', 'suid', 'gid', 'egid', 'sgid'];

// The files of the base tree (crates/kernel/src/fs/base.rs), for programs that may not read them.
const PASSWD = 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n';
const GROUP = 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n';

function lines(path, otherwise) {
  const bytes = readFile(path, new Uint8Array(FIRST_ROOM));
  const text =
    typeof bytes === 'number'
      ? otherwise
      : native.decode(bytes.buffer, bytes.byteOffset, bytes.byteLength, native.encodings.utf8);
  return text
    .split('\n')
    .map((line) => line.split(':'))
    .filter((fields) => fields.length > 2 && /^\d+$/.test(fields[2]));
}

// Returns the entry of a user by name or number: { name, uid, gid, home, shell }, or undefined.
function userOf(who) {
  const fields = lines('/etc/passwd', PASSWD).find(([name, , uid]) =>
    typeof who === 'number' ? Number(uid) === who : name === who,
  );
  if (fields === undefined) return undefined;
  const [name, , uid, gid, , home = '/', shell = '/bin/sh'] = fields;
  return { name, uid: Number(uid), gid: Number(gid), home, shell };
}

// Returns the number of a group by name or number, or undefined.
function groupOf(which) {
  if (typeof which === 'number') return which;
  const fields = lines('/etc/group', GROUP).find(([name]) => name === which);
  return fields === undefined ? undefined : Number(fields[2]);
}

// Returns the numbers of the groups that have the user `name` as a member.
const groupsWith = (name) =>
  lines('/etc/group', GROUP)
    .filter(([, , , members = '']) => members.split(',').includes(name))
    .map(([, , gid]) => Number(gid));

// Returns the ids of this process: { uid, euid, suid, gid, egid, sgid, groups }.
function ownIds() {
  const numbers = new Uint32Array(MOST_IDS);
  const count = sys(NUMBERS.getIds, numbers);
  const ids = { groups: Array.from(numbers.subarray(IDS.length, Math.max(IDS.length, count))) };
  IDS.forEach((name, index) => {
    ids[name] = numbers[index];
  });
  return ids;
}

module.exports = { userOf, groupOf, groupsWith, ownIds };
