// What: `node:os`. The same facts in every sandbox, true of no machine: what the host is like is none of a guest's business.
'use strict';

module.exports = function os(binding) {
  const started = () => (native.clockNs(1) - native.timeOrigin()[0]) / 1e9;
  binding.getHostname = () => 'coldframe';
  // [sysname, version, release, machine]
  binding.getOSInformation = () => ['Linux', '#1 SMP', '6.1.0', 'x86_64'];
  binding.getHomeDirectory = () => native.env().HOME || '/home/user';
  binding.getCPUs = () => ['virtual', 0, 0, 0, 0, 0, 0];
  binding.getFreeMem = () => TOTAL_MEMORY_BYTES - native.memoryUsage().rss;
  binding.getTotalMem = () => TOTAL_MEMORY_BYTES;
  binding.getLoadAvg = (fields) => {
    fields.fill(0);
  };
  binding.getUptime = started;
  binding.getInterfaceAddresses = () => ['lo', '127.0.0.1', '255.0.0.0', 'IPv4', '00:00:00:00:00:00', true, -1];
  binding.getUserInfo = () => ({
    __proto__: null,
    uid: 1000,
    gid: 1000,
    username: 'user',
    homedir: '/home/user',
    shell: '/bin/sh',
  });
  binding.getPriority = () => 0;
  binding.setPriority = () => 0;
  binding.getAvailableParallelism = () => 1;
};

// What a guest's linear memory can grow to (docs/internals/guest-abi.md).
const TOTAL_MEMORY_BYTES = 2 ** 31;
