// `node:os`: constant facts, equal in every sandbox, because a guest must learn nothing about the
// host machine. Only the addresses in private networks and the user of the process differ.
'use strict';

const nodeContext = require('../context.js');
const { messageOf, nameOf } = require('../errors/errno.js');
const { sockets: NUMBERS } = require('../generated/system-calls.js');
const { ownIds, userOf } = require('../processes/accounts.js');

const ENOENT = -2;
const EACCES = -13;
const ESRCH = -3;

// The niceness is stored and returned without effect: all programs of a runtime are scheduled
// alike.
let niceness = 0;

const isOwn = (pid) => pid === 0 || pid === native.pid();

// Sets the error in `context`, as Node's CollectUVExceptionInfo does.
function failed(errno, syscall, context) {
  Object.assign(context, { errno, code: nameOf(errno), message: messageOf(errno), syscall });
  return errno;
}

const NO_MAC = '00:00:00:00:00:00';
// A runtime is in at most 16 networks, and the name of a network has at most 63 bytes.
const MAX_INTERFACES_BYTES = 4_096;

// Returns seven fields for each address: interface, address, netmask, family, MAC, whether the
// interface is the loopback, and the scope of an IPv6 address.
function interfaceAddresses() {
  // The kernel has the loopback with both families.
  const fields = [
    ...['lo', '127.0.0.1', '255.0.0.0', 'IPv4', NO_MAC, true, -1],
    ...['lo', '::1', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'IPv6', NO_MAC, true, 0],
  ];
  const buffer = new Uint8Array(MAX_INTERFACES_BYTES);
  const length = native.sys(NUMBERS.interfaces, buffer);
  if (length <= 0) return fields;
  const lines = native.decode(buffer.buffer, 0, length, native.encodings.utf8).split('\n');
  for (const line of lines.slice(0, -1)) {
    const [network, address] = line.split(' ');
    if (address.includes(':')) fields.push(network, address, 'ffff:ffff:ffff:ffff::', 'IPv6', NO_MAC, false, 0);
    else fields.push(network, address, '255.254.0.0', 'IPv4', NO_MAC, false, -1);
  }
  return fields;
}

module.exports = function os(binding) {
  const started = () => (native.clockNs(1) - native.timeOrigin()[0]) / 1e9;
  binding.getHostname = () => 'coldframe';
  // [sysname, version, release, machine]
  binding.getOSInformation = () => ['Linux', '#1 SMP', '6.1.0', 'x86_64'];
  binding.getHomeDirectory = () => native.env().HOME || (userOf(ownIds().euid)?.home ?? '/');
  binding.getCPUs = () => ['virtual', 0, 0, 0, 0, 0, 0];
  binding.getFreeMem = () => TOTAL_MEMORY_BYTES - native.memoryUsage().rss;
  binding.getTotalMem = () => TOTAL_MEMORY_BYTES;
  binding.getLoadAvg = (fields) => {
    fields.fill(0);
  };
  binding.getUptime = started;
  binding.getInterfaceAddresses = interfaceAddresses;
  binding.getUserInfo = (options, context) => {
    const account = userOf(ownIds().euid);
    if (account === undefined) {
      failed(ENOENT, 'uv_os_get_passwd', context);
      return undefined;
    }
    const text = (value) => (options?.encoding === 'buffer' ? nodeContext.requireBuiltin('buffer').Buffer.from(value) : value);
    const { uid, gid, name, home, shell } = account;
    return { __proto__: null, uid, gid, username: text(name), homedir: text(home), shell: text(shell) };
  };
  binding.getPriority = (pid, context) => {
    if (isOwn(pid)) return niceness;
    failed(ESRCH, 'uv_os_getpriority', context);
    return undefined;
  };
  binding.setPriority = (pid, priority, context) => {
    if (!isOwn(pid)) return failed(ESRCH, 'uv_os_setpriority', context);
    // Only root may set a niceness below the present niceness.
    if (priority < niceness && ownIds().euid !== 0) return failed(EACCES, 'uv_os_setpriority', context);
    niceness = priority;
    return 0;
  };
  binding.getAvailableParallelism = () => 1;
};

// The largest possible linear memory of a guest (docs/internals/guest-abi.md).
const TOTAL_MEMORY_BYTES = 2 ** 31;
