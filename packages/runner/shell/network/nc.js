// `nc`: a TCP connection between standard streams and a listener, or a listener for one
// connection. Next: ../programs.js.

import net from 'node:net';
import { write } from '../descriptors.js';

function readOptions(args) {
  const read = { operands: [] };
  const words = [...args];
  while (words.length > 0) {
    const word = words.shift();
    if (!/^-./.test(word)) read.operands.push(word);
    else
      for (let at = 1; at < word.length; at++) {
        const letter = word[at];
        if ('wpqiU'.includes(letter)) {
          read[letter] = word.slice(at + 1) || words.shift() || '';
          break;
        }
        if (!'zvlnkN46'.includes(letter)) return { bad: `invalid option -- '${letter}'` };
        read[letter] = true;
      }
  }
  return read;
}

const note = (text) => write(2, Buffer.from(text));

// Connects the socket with standard input and output. Resolves when the connection has ended.
const exchange = (socket, ends) =>
  new Promise((resolve) => {
    process.stdin.pipe(socket, { end: ends });
    socket.on('data', (piece) => write(1, piece));
    socket.on('error', (error) => {
      note(`nc: ${error.message}\n`);
      resolve(1);
    });
    socket.on('close', () => resolve(0));
  });

function connect(target, read, name) {
  return new Promise((resolve) => {
    const socket = net.connect(target);
    if (read.w !== undefined) socket.setTimeout(Number(read.w) * 1_000, () => socket.destroy(new Error('timed out')));
    socket.once('error', ({ code, message }) => {
      if (read.v || !read.z) note(`nc: ${name} failed: ${code === 'ECONNREFUSED' ? 'Connection refused' : message}\n`);
      resolve(1);
    });
    socket.once('connect', () => {
      if (read.v) note(`Connection to ${name} succeeded!\n`);
      socket.removeAllListeners('error');
      if (!read.z) return resolve(exchange(socket, true));
      socket.end();
      resolve(0);
    });
  });
}

function listen(port, host) {
  return new Promise((resolve) => {
    const server = net.createServer((socket) => {
      server.close();
      resolve(exchange(socket, true));
    });
    server.on('error', ({ message }) => {
      note(`nc: ${message}\n`);
      resolve(1);
    });
    server.listen(port, host);
  });
}

export function nc(args) {
  const read = readOptions(args);
  const usage = (text) => {
    note(`nc: ${text}\nusage: nc [-lvz] [-p port] [-w seconds] [-U path] [host] [port]\n`);
    return 1;
  };
  if (read.bad !== undefined) return usage(read.bad);
  if (read.l) {
    const port = Number(read.p ?? read.operands.at(-1));
    if (!Number.isInteger(port)) return usage('missing port number');
    return listen(port, read.operands.length > 1 ? read.operands[0] : '0.0.0.0');
  }
  if (read.U !== undefined) return connect({ path: read.U }, read, read.U);
  const [host, range] = read.operands;
  const [first, last = first] = (range ?? '').split('-').map(Number);
  if (!(first > 0 && last <= 65_535)) return usage('missing port number');
  return all(host, first, last, read);
}

async function all(host, first, last, read) {
  let exitCode = 1;
  for (let port = first; port <= last; port++) {
    if ((await connect({ host, port }, read, `${host} ${port} port [tcp/*]`)) === 0) exitCode = 0;
    if (!read.z) break;
  }
  return exitCode;
}
