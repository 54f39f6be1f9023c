// `wget` of single files over HTTP. Next: transfer.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { close, write } from '../descriptors.js';
import { bodyOf, headOf, request } from './transfer.js';

const NETWORK_FAILURE = 4;
const SERVER_ERROR = 8;

function readOptions(args) {
  const read = { urls: [], headers: [], quiet: false };
  const words = [...args];
  while (words.length > 0) {
    const word = words.shift();
    const [, long, attached] = /^(--[a-z-]+)(?:=(.*))?$/s.exec(word) ?? [];
    const value = () => attached ?? words.shift() ?? '';
    if (long === '--output-document') read.output = value();
    else if (long === '--directory-prefix') read.folder = value();
    else if (long === '--header') read.headers.push(value());
    else if (long === '--post-data') read.body = Buffer.from(value());
    else if (long === '--method') read.method = value();
    else if (long === '--user-agent') read.agent = value();
    else if (long === '--timeout' || long === '--tries') value();
    else if (long === '--quiet') read.quiet = true;
    else if (long === '--spider') read.spider = true;
    else if (long === '--server-response') read.shows = true;
    else if (/^--(?:no-verbose|no-check-certificate|show-progress|no-cache|content-disposition)$/.test(long)) continue;
    else if (long !== undefined) return { bad: `unrecognized option '${word}'` };
    else if (/^-./.test(word)) {
      for (let at = 1; at < word.length; at++) {
        const letter = word[at];
        if ('OPTtUo'.includes(letter)) {
          const given = word.slice(at + 1) || words.shift() || '';
          if (letter === 'O') read.output = given;
          if (letter === 'P') read.folder = given;
          if (letter === 'U') read.agent = given;
          break;
        }
        if (letter === 'q') read.quiet = true;
        else if (letter === 'S') read.shows = true;
        else if (!'ncvd'.includes(letter)) return { bad: `invalid option -- '${letter}'` };
      }
    } else read.urls.push(word);
  }
  return read;
}

async function fetchOne(address, read) {
  const url = new URL(/^https?:\/\//i.test(address) ? address : `http://${address}`);
  const say = (text) => read.quiet || write(2, Buffer.from(text));
  const given = read.headers.map((text) => text.split(/:\s*(.*)/s).slice(0, 2));
  const type = read.body && [['Content-Type', 'application/x-www-form-urlencoded']];
  const headers = [['User-Agent', read.agent ?? 'Wget/1.25.0'], ['Accept', '*/*'], ...(type ?? []), ...given];
  const method = read.method ?? (read.spider ? 'HEAD' : read.body ? 'POST' : 'GET');
  say(`--  ${url.href}\n`);
  const { response } = await request(url, { method, headers, body: read.body, follows: true, mostRedirects: 20 });
  say(`HTTP request sent, awaiting response... ${response.statusCode} ${response.statusMessage}\n`);
  if (read.shows) write(2, Buffer.from(headOf(response).replaceAll('\r\n', '\n'), 'latin1'));
  if (response.statusCode >= 400) {
    response.resume();
    say(`ERROR ${response.statusCode}: ${response.statusMessage}.\n`);
    return SERVER_ERROR;
  }
  if (read.spider) return 0;
  const path = read.output ?? posix.join(read.folder ?? '', posix.basename(url.pathname) || 'index.html');
  if (read.folder !== undefined) fs.mkdirSync(posix.resolve(read.folder), { recursive: true });
  const fd = path === '-' ? 1 : fs.openSync(path, 'w');
  try {
    for await (const piece of bodyOf(response, false)) write(fd, piece);
  } finally {
    if (fd !== 1) close(fd);
  }
  if (fd !== 1) say(`'${path}' saved\n`);
  return 0;
}

export async function wget(args) {
  const read = readOptions(args);
  if (read.bad !== undefined || read.urls.length === 0) {
    write(2, Buffer.from(`wget: ${read.bad ?? 'missing URL'}\nUsage: wget [OPTION]... [URL]...\n`));
    return read.bad === undefined ? 1 : 2;
  }
  let exitCode = 0;
  for (const address of read.urls) {
    try {
      exitCode = Math.max(exitCode, await fetchOne(address, read));
    } catch (error) {
      if (!read.quiet) write(2, Buffer.from(`wget: ${error.message}\n`));
      exitCode = NETWORK_FAILURE;
    }
  }
  return exitCode;
}
