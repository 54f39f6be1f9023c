// Reads the sockets of the runtime from `/proc/net`, and the processes that have the sockets from
// `/proc/PID/fd`. Next: ss.js and netstat.js, which print the sockets.

import fs from 'node:fs';

/** The states by the numbers of `/proc/net`, as `ss` prints them. */
export const STATES = [
  undefined,
  'ESTAB',
  'SYN-SENT',
  'SYN-RECV',
  'FIN-WAIT-1',
  'FIN-WAIT-2',
  'TIME-WAIT',
  'UNCONN',
  'CLOSE-WAIT',
  'LAST-ACK',
  'LISTEN',
  'CLOSING',
];
const ACCEPTS = 0x1_0000;
const CONNECTED = 3;
const CONNECTING = 2;
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255];

const lines = (name) => fs.readFileSync(`/proc/net/${name}`, 'latin1').split('\n').slice(1, -1);

// Reads an address of /proc/net: the words of a little-endian machine, and the port.
function addressIn(text) {
  const [words, port] = text.split(':');
  const bytes = words.match(/.{8}/g).flatMap((word) => word.match(/../g).reverse());
  return { bytes: bytes.map((byte) => Number.parseInt(byte, 16)), port: Number.parseInt(port, 16) };
}

function ipSockets(protocol, isV6) {
  return lines(isV6 ? `${protocol}6` : protocol).map((line) => {
    const [, local, remote, state, queues, , , uid, , inode] = line.trim().split(/\s+/);
    const [send, receive] = queues.split(':').map((count) => Number.parseInt(count, 16));
    return {
      netid: protocol,
      isV6,
      local: addressIn(local),
      remote: addressIn(remote),
      state: STATES[Number.parseInt(state, 16)],
      send,
      receive,
      uid: Number(uid),
      inode: Number(inode),
    };
  });
}

function unixSockets() {
  return lines('unix').flatMap((line) => {
    // A name with a line break has more lines, as on Linux.
    const [, references, flags, number, inode, path] = /^\S+: (\S+) \S+ (\S+) \S+ (\S+) +(\d+)(?: (.*))?$/s.exec(line) ?? [];
    if (inode === undefined) return [];
    const accepts = (Number.parseInt(flags, 16) & ACCEPTS) !== 0;
    const state = { [CONNECTING]: 'SYN-SENT', [CONNECTED]: 'ESTAB' }[Number.parseInt(number, 16)] ?? 'UNCONN';
    return {
      netid: 'u_str',
      path: path && Buffer.from(path, 'latin1').toString(),
      state: accepts ? 'LISTEN' : state,
      references: Number.parseInt(references, 16),
      send: 0,
      receive: 0,
      inode: Number(inode),
    };
  });
}

/** Returns the sockets of a protocol: `u_str`, `udp` or `tcp`. The sockets of IPv4 are first. */
export function socketsOf(netid) {
  return netid === 'u_str' ? unixSockets() : [...ipSockets(netid, false), ...ipSockets(netid, true)];
}

/** Returns whether an address is `0.0.0.0` or `::`. */
export const isAny = ({ bytes }) => bytes.every((byte) => byte === 0);

/** Returns the 16 bytes of an address. An address of IPv4 is in the notation of IPv6. */
export const sixteen = (bytes) => (bytes.length === 4 ? [...MAPPED, ...bytes] : bytes);

/** Returns the IPv4 address of an address, as text, or undefined for an address of IPv6. */
export function v4Text({ bytes }) {
  if (bytes.length === 4) return bytes.join('.');
  return MAPPED.every((byte, at) => byte === bytes[at]) ? bytes.slice(12).join('.') : undefined;
}

/** Returns the text of an address of either family. */
export function addressText(address) {
  const v4 = v4Text(address);
  if (v4 !== undefined) return address.bytes.length === 4 ? v4 : `::ffff:${v4}`;
  const { bytes } = address;
  const groups = Array.from({ length: 8 }, (_, at) => ((bytes[2 * at] << 8) | bytes[2 * at + 1]).toString(16));
  const zeros = groups.map((group) => (group === '0' ? 'z' : '-')).join('');
  const longest = (zeros.match(/z{2,}/g) ?? []).reduce((best, run) => (run.length > best.length ? run : best), '');
  if (longest === '') return groups.join(':');
  const at = zeros.indexOf(longest);
  return `${groups.slice(0, at).join(':')}::${groups.slice(at + longest.length).join(':')}`;
}

/** Returns the bytes of an address in text, or undefined. */
export function addressBytes(text) {
  const v4 = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  if (v4 !== undefined) return v4.every((byte) => byte < 256) ? v4 : undefined;
  const [, before, tail] = /^(.*:)(\d[\d.]*\.\d+)$/.exec(text) ?? [];
  if (tail !== undefined) {
    const bytes = addressBytes(tail)?.map((byte) => byte.toString(16).padStart(2, '0'));
    return bytes && addressBytes(`${before}${bytes[0]}${bytes[1]}:${bytes[2]}${bytes[3]}`);
  }
  const [left, right, ...more] = text.split('::').map((part) => (part === '' ? [] : part.split(':')));
  const count = left.length + (right?.length ?? 0);
  if (more.length > 0 || (right === undefined ? count !== 8 : count > 7)) return undefined;
  const groups = [...left, ...Array(8 - count).fill('0'), ...(right ?? [])];
  if (!groups.every((group) => /^[\da-f]{1,4}$/i.test(group))) return undefined;
  return groups.map((group) => Number.parseInt(group, 16)).flatMap((group) => [group >> 8, group & 255]);
}

// Returns undefined if the process has ended, or belongs to another user.
function ifReadable(read) {
  try {
    return read();
  } catch (error) {
    if (['EACCES', 'ENOENT', 'ESRCH'].includes(error.code)) return undefined;
    throw error;
  }
}

/** Returns the processes that have each socket: inode → [{ pid, fd, name, program }]. */
export function holdersOfSockets() {
  const holders = new Map();
  const pids = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const pid of pids.map(Number).sort((a, b) => a - b)) {
    const name = ifReadable(() => fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd());
    const program = ifReadable(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]) || name;
    const fds = (ifReadable(() => fs.readdirSync(`/proc/${pid}/fd`)) ?? []).map(Number).sort((a, b) => a - b);
    for (const fd of fds) {
      const link = ifReadable(() => fs.readlinkSync(`/proc/${pid}/fd/${fd}`));
      const inode = /^socket:\[(\d+)\]$/.exec(link ?? '')?.[1];
      if (inode === undefined) continue;
      const of = holders.get(Number(inode)) ?? [];
      holders.set(Number(inode), [...of, { pid, fd, name, program }]);
    }
  }
  return holders;
}
