// `netstat`, which prints the sockets of the runtime as net-tools does. Next: sockets.js.

import { names } from '../accounts.js';
import { addressText, holdersOfSockets, isAny, socketsOf, v4Text } from './sockets.js';

const STATES = {
  __proto__: null,
  ESTAB: 'ESTABLISHED',
  'SYN-SENT': 'SYN_SENT',
  'FIN-WAIT-2': 'FIN_WAIT2',
  'CLOSE-WAIT': 'CLOSE_WAIT',
  LISTEN: 'LISTEN',
};
const UNIX_STATES = { __proto__: null, ESTAB: 'CONNECTED', 'SYN-SENT': 'CONNECTING', LISTEN: 'LISTENING' };
const LONG = {
  __proto__: null,
  tcp: 't',
  udp: 'u',
  unix: 'x',
  listening: 'l',
  all: 'a',
  numeric: 'n',
  'numeric-hosts': 'n',
  'numeric-ports': 'n',
  'numeric-users': 'n',
  programs: 'p',
  program: 'p',
  extend: 'e',
  wide: 'W',
  verbose: 'v',
  timers: 'o',
  inet: '4',
  inet6: '6',
};
const LETTERS = 'tuxlanpeWvo46';
const USAGE = `usage: netstat [-Wvonaelp] [-t|--tcp] [-u|--udp] [-x|--unix] [-4] [-6]

        -n, --numeric            don't resolve names
        -e, --extend             display other/more information
        -p, --programs           display PID/Program name for sockets
        -l, --listening          display listening server sockets
        -a, --all                display all sockets (default: connected)
`;
const OPTION_ERROR = 3;

function readFlags(args) {
  const flags = new Set();
  for (const word of args) {
    if (word.startsWith('--')) {
      const letter = LONG[word.slice(2)];
      if (letter === undefined) return { bad: `unrecognized option '${word}'` };
      flags.add(letter);
    } else if (/^-./.test(word)) {
      const wrong = [...word.slice(1)].find((letter) => !LETTERS.includes(letter));
      if (wrong !== undefined) return { bad: `invalid option -- '${wrong}'` };
      for (const letter of word.slice(1)) flags.add(letter);
    }
  }
  return { flags };
}

function place(address, isNumeric) {
  const v4 = v4Text(address);
  // net-tools looks up no name for an IPv4 address of a socket of IPv6.
  const isNamed = !isNumeric && address.bytes.length === 4 && v4 === '127.0.0.1';
  const text = isNamed ? 'localhost' : (v4 ?? addressText(address));
  const host = !isNumeric && v4 === undefined && isAny(address) ? `[${text}]` : text;
  return `${host}:${address.port === 0 ? '*' : address.port}`;
}

function programOf(holders, inode) {
  const [holder] = holders.get(inode) ?? [];
  if (holder === undefined) return '-';
  return `${holder.pid}/${holder.program.split('/').at(-1)}`.slice(0, 19);
}

// Returns whether the options select a socket. A datagram socket without a peer counts as a server.
function isWanted(flags, { netid, state }) {
  const isServer = state === 'LISTEN' || (netid === 'udp' && state === 'UNCONN');
  return flags.has('a') || isServer === flags.has('l');
}

const columns = (cells, widths) => cells.map((cell, at) => String(cell).padEnd(widths[at])).join(' ');

function ofIp(flags, title, holders) {
  const more = [...(flags.has('e') ? ['User', 'Inode'] : []), ...(flags.has('p') ? ['PID/Program name'] : [])];
  const widths = [23, 23, 11, ...(flags.has('e') ? [10, 10] : []), ...(flags.has('p') ? [20] : [])];
  const header = columns(['Local Address', 'Foreign Address', 'State', ...more], widths);
  const { user } = names();
  const netids = ['tcp', 'udp'].filter((netid) => flags.has(netid[0]) || !(flags.has('t') || flags.has('u')));
  const rows = netids
    .flatMap(socketsOf)
    .filter((socket) => !(flags.has('4') || flags.has('6')) || flags.has(socket.isV6 ? '6' : '4'))
    .filter((socket) => isWanted(flags, socket))
    .map(({ netid, isV6, local, remote, state, send, receive, uid, inode }) => {
      const places = [local, remote].map((address) => place(address, flags.has('n')));
      const cells = [...places, STATES[state] ?? ''];
      if (flags.has('e')) cells.push(flags.has('n') ? uid : user(uid), inode);
      if (flags.has('p')) cells.push(programOf(holders, inode));
      const counts = [receive, send].map((count) => String(count).padStart(6)).join(' ');
      return `${(isV6 ? `${netid}6` : netid).padEnd(5)} ${counts} ${columns(cells, widths)}\n`;
    });
  return `Active Internet connections (${title})\nProto Recv-Q Send-Q ${header}\n${rows.join('')}`;
}

function ofUnix(flags, title, holders) {
  const widths = [5, 6, 11, 10, 13, 8, ...(flags.has('p') ? [20] : []), 0];
  const line = (cells, program, path) => `${columns([...cells, ...(flags.has('p') ? [program] : []), path], widths)}\n`;
  const header = line(['Proto', 'RefCnt', 'Flags', 'Type', 'State', 'I-Node'], 'PID/Program name', 'Path');
  const rows = socketsOf('u_str')
    .filter((socket) => isWanted(flags, socket))
    .map(({ references, state, inode, path = '' }) => {
      const cells = ['unix', references, state === 'LISTEN' ? '[ ACC ]' : '[ ]', 'STREAM', UNIX_STATES[state] ?? '', inode];
      return line(cells, programOf(holders, inode), path);
    });
  return `Active UNIX domain sockets (${title})\n${header}${rows.join('')}`;
}

/** Runs `netstat [OPTION]...`. */
export function netstat(args) {
  const { flags, bad } = readFlags(args);
  if (bad !== undefined) return { stdout: '', stderr: `netstat: ${bad}\n${USAGE}`, exitCode: OPTION_ERROR };
  const title = flags.has('a') ? 'servers and established' : flags.has('l') ? 'only servers' : 'w/o servers';
  const wantsIp = ['t', 'u', '4', '6'].some((flag) => flags.has(flag));
  const holders = flags.has('p') ? holdersOfSockets() : new Map();
  let stdout = '';
  if (wantsIp || !flags.has('x')) stdout += ofIp(flags, title, holders);
  if (flags.has('x') || !wantsIp) stdout += ofUnix(flags, title, holders);
  return { stdout, stderr: '', exitCode: 0 };
}
