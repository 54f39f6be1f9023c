// `ss`, which prints the sockets of the runtime as iproute2 does when its output is no terminal.
// Next: socket-filter.js, the filters of the last arguments.

import { FilterError, readFilter } from './socket-filter.js';
import { addressText, holdersOfSockets, isAny, STATES, socketsOf } from './sockets.js';

const NETIDS = ['u_str', 'udp', 'tcp'];
const CLOSED = ['LISTEN', 'UNCONN'];
const BUCKETS = ['SYN-RECV', 'TIME-WAIT'];
const ALL = STATES.filter(Boolean);
const CONNECTIONS = ALL.filter((state) => ![...CLOSED, ...BUCKETS].includes(state));
const NAMED_STATES = {
  __proto__: null,
  all: ALL,
  established: ['ESTAB'],
  estab: ['ESTAB'],
  unconnected: ['UNCONN'],
  closed: ['UNCONN'],
  close: ['UNCONN'],
  listening: ['LISTEN'],
  'syn-sent': ['SYN-SENT'],
  'syn-recv': ['SYN-RECV'],
  'fin-wait-1': ['FIN-WAIT-1'],
  'fin-wait-2': ['FIN-WAIT-2'],
  'time-wait': ['TIME-WAIT'],
  'close-wait': ['CLOSE-WAIT'],
  'last-ack': ['LAST-ACK'],
  closing: ['CLOSING'],
  connected: ALL.filter((state) => !CLOSED.includes(state)),
  synchronized: ALL.filter((state) => !CLOSED.includes(state) && state !== 'SYN-SENT'),
  bucket: BUCKETS,
  big: ALL.filter((state) => !BUCKETS.includes(state)),
};
const TABLES = {
  __proto__: null,
  all: NETIDS,
  inet: ['udp', 'tcp'],
  tcp: ['tcp'],
  udp: ['udp'],
  unix: ['u_str'],
  unix_stream: ['u_str'],
  u_str: ['u_str'],
};
const FAMILIES = { __proto__: null, inet: '4', inet6: '6', unix: 'x' };
const LONG = {
  __proto__: null,
  numeric: 'n',
  resolve: 'r',
  all: 'a',
  listening: 'l',
  options: 'o',
  extended: 'e',
  memory: 'm',
  processes: 'p',
  info: 'i',
  summary: 's',
  ipv4: '4',
  ipv6: '6',
  tcp: 't',
  udp: 'u',
  unix: 'x',
  'no-header': 'H',
  oneline: 'O',
  help: 'h',
  version: 'V',
  family: 'f',
  query: 'A',
  socket: 'A',
};
// The details of -e, -i, -m and -o do not exist here, and no address or port has a name.
const LETTERS = 'natuxlpHs46hVrOoemi';
const USAGE = `Usage: ss [ OPTIONS ]
       ss [ OPTIONS ] [ FILTER ]
   -n, --numeric       don't resolve service names
   -a, --all           display all sockets
   -l, --listening     display listening sockets
   -p, --processes     show process using socket
   -s, --summary       show socket usage summary

   -4, --ipv4          display only IP version 4 sockets
   -6, --ipv6          display only IP version 6 sockets
   -t, --tcp           display only TCP sockets
   -u, --udp           display only UDP sockets
   -x, --unix          display only Unix domain sockets
   -f, --family=FAMILY display sockets of type FAMILY
       FAMILY := {inet|inet6|unix}
   -A, --query=QUERY
       QUERY := {all|inet|tcp|udp|unix}[,QUERY]
   -H, --no-header     suppress header line

       FILTER := [ state STATE-FILTER ] [ EXPRESSION ]
       EXPRESSION := sport = :PORT | dport = :PORT | src ADDRESS | dst ADDRESS
`;

const bad = (message) => new FilterError(`ss: ${message}\n${USAGE}`.trimEnd(), 255);

function readArguments(args) {
  const read = { flags: new Set(), tables: new Set(), rest: [] };
  const words = [...args];
  const take = (letter, value) => {
    if (letter === 'A') {
      for (const name of value.split(',')) {
        if (TABLES[name] === undefined) throw bad(`"${name}" is illegal socket table id`);
        for (const netid of TABLES[name]) read.tables.add(netid);
      }
    } else if (letter === 'f') {
      if (FAMILIES[value] === undefined) throw bad(`"${value}" is invalid family`);
      take(FAMILIES[value]);
    } else if (letter === 't') read.tables.add('tcp');
    else if (letter === 'u') read.tables.add('udp');
    else if (letter === 'x') read.tables.add('u_str');
    else if (!LETTERS.includes(letter)) throw bad(`invalid option -- '${letter}'`);
    else read.flags.add(letter);
  };
  const valueFor = (letter, attached) => {
    if (letter !== 'A' && letter !== 'f') return undefined;
    if (attached === undefined && words.length === 0) throw bad(`option requires an argument -- '${letter}'`);
    return attached ?? words.shift();
  };
  while (words.length > 0) {
    const word = words.shift();
    const [, name, value] = /^--([^=]+)(?:=(.*))?$/.exec(word) ?? [];
    if (name !== undefined) {
      if (LONG[name] === undefined) throw bad(`unrecognized option '--${name}'`);
      take(LONG[name], valueFor(LONG[name], value));
    } else if (word === '--') {
      read.rest.push(...words.splice(0));
    } else if (/^-./.test(word)) {
      for (let at = 1; at < word.length; at++) {
        const attached = valueFor(word[at], word.slice(at + 1) || undefined);
        take(word[at], attached);
        if (attached !== undefined) break;
      }
    } else read.rest.push(word);
  }
  return read;
}

// Removes the conditions about states from `words`. Returns the states, or undefined.
function statesIn(words) {
  let states;
  for (;;) {
    const excludes = words[0] === 'exclude' || words[0] === 'excl';
    if (!excludes && words[0] !== 'state') return states && new Set(states);
    const [, name = ''] = words.splice(0, 2);
    const named = NAMED_STATES[name.toLowerCase()];
    if (named === undefined) throw new FilterError(`ss: wrong state name: ${name}`, 255);
    states = excludes ? (states ?? ALL).filter((state) => !named.includes(state)) : [...(states ?? []), ...named];
  }
}

function statesOf(flags, tables) {
  if (flags.has('a')) return new Set(ALL);
  if (flags.has('l')) return new Set(CLOSED);
  return new Set(tables.has('tcp') ? CONNECTIONS : ['ESTAB']);
}

function ipCells(address, isPeer, { isV6, local }) {
  // Linux shows a socket of every address and both families as `*`.
  const isBoth = isV6 && isAny(local);
  const text = addressText(address);
  const shown = isBoth && isAny(address) ? '*' : text.includes(':') ? `[${text}]` : text;
  return [`${shown}:`, isPeer && address.port === 0 ? '*' : `${address.port}`];
}

const usersOf = (holders) =>
  holders === undefined ? '' : ` users:(${holders.map(({ name, pid, fd }) => `("${name}",pid=${pid},fd=${fd})`).join(',')})`;

function cellsOf(socket, holders) {
  const { netid, state, receive, send, inode } = socket;
  const places =
    netid === 'u_str'
      ? [`${socket.path ?? '*'} `, `${inode}`, '* ', '0']
      : [...ipCells(socket.local, false, socket), ...ipCells(socket.remote, true, socket)];
  const counts = [receive, send].map((count) => `${count}`.padEnd(6));
  return [netid, state, ...counts, ...places, usersOf(holders?.get(inode))];
}

const HEADER = ['Netid', 'State', 'Recv-Q', 'Send-Q', 'Local Address:', 'Port', 'Peer Address:', 'Port', 'Process'];
const ALIGNED_RIGHT = [4, 6];
const WITHOUT_SPACE = [5, 7, 8];

function table(rows, hidden) {
  const shown = HEADER.map((_, at) => at).filter((at) => !hidden.has(at));
  const widths = HEADER.map((_, at) => rows.reduce((widest, row) => Math.max(widest, row[at].length), 0));
  const line = (row) =>
    shown
      .map((at, index) => {
        const cell = ALIGNED_RIGHT.includes(at) ? row[at].padStart(widths[at]) : row[at].padEnd(widths[at]);
        return index === 0 || WITHOUT_SPACE.includes(at) ? cell : ` ${cell}`;
      })
      .join('');
  return rows.map((row) => `${line(row)}\n`).join('');
}

function summary() {
  const [unix, udp, tcp] = NETIDS.map(socketsOf);
  const of = (state) => tcp.filter((socket) => socket.state === state).length;
  const line = (name, sockets) => {
    const ofV6 = sockets.filter(({ isV6 }) => isV6).length;
    return `${name}\t  ${[sockets.length, sockets.length - ofV6, ofV6].map((count) => `${count}`.padEnd(9)).join(' ')}\n`;
  };
  const counts = `estab ${of('ESTAB')}, closed ${of('TIME-WAIT')}, orphaned 0, timewait ${of('TIME-WAIT')}`;
  return (
    `Total: ${unix.length + udp.length + tcp.length}\nTCP:   ${tcp.length} (${counts})\n\n` +
    `Transport Total     IP        IPv6\n${line('RAW', [])}${line('UDP', udp)}${line('TCP', tcp)}` +
    `${line('INET', [...udp, ...tcp])}${line('FRAG', [])}\n`
  );
}

function list({ flags, tables, rest }) {
  const ofIp = ['4', '6'].filter((family) => flags.has(family));
  const wanted = tables.size > 0 ? tables : new Set(ofIp.length > 0 ? TABLES.inet : NETIDS);
  const states = statesIn(rest) ?? statesOf(flags, wanted);
  const matches = readFilter(rest);
  const sockets = NETIDS.filter((netid) => wanted.has(netid))
    .flatMap(socketsOf)
    .filter((socket) => ofIp.length === 0 || ofIp.includes(socket.isV6 ? '6' : '4'))
    .filter((socket) => states.has(socket.state) && matches(socket));
  const holders = flags.has('p') ? holdersOfSockets() : undefined;
  const hidden = new Set();
  // A column whose content the arguments determine is hidden.
  if (wanted.size === 1 && !wanted.has('u_str')) hidden.add(0);
  if (states.size === 1) hidden.add(1);
  const rows = sockets.map((socket) => cellsOf(socket, holders));
  return table(flags.has('H') ? rows : [HEADER, ...rows], hidden);
}

/** Runs `ss [OPTION]... [FILTER]`. */
export function ss(args) {
  try {
    const read = readArguments(args);
    const { flags } = read;
    const output = () => (flags.has('s') ? summary() : list(read));
    const stdout = flags.has('h') ? USAGE : flags.has('V') ? 'ss utility, iproute2-6.1.0\n' : output();
    return { stdout, stderr: '', exitCode: 0 };
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    const usage = error.message.includes('syntax error') ? `\n${USAGE.trimEnd()}` : '';
    return { stdout: '', stderr: `${error.message}${usage}\n`, exitCode: error.exitCode };
  }
}
