// isomorphic-git against Git's own HTTP server, and the S3 client against s3rver, on this machine.
// Next: clients.mjs.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { load } from '../../../npm-clients/packages.mjs';
import { CLIENT_MS, expectOutput, HOST, useSidecar } from './clients.mjs';
import { temporaryFolder } from './servers.mjs';

useSidecar();

const PERSON = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@a' };
const TIME = { GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z', GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z' };

function git(cwd, ...args) {
  const env = { PATH: process.env.PATH, HOME: cwd, ...PERSON, ...TIME };
  const { status, stderr } = spawnSync('git', args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args[0]} has failed: ${stderr}`);
}

// Makes a repository with 20 commits and a large file, and a bare copy that can be pushed to.
function makeRepository(root) {
  const work = join(root, 'work');
  mkdirSync(work);
  git(work, 'init', '--quiet', '--initial-branch=main');
  const large = Buffer.alloc(3_000_000);
  for (let at = 0, state = 1; at < large.length; at++) {
    state = (state * 48_271) % 2_147_483_647;
    large[at] = state;
  }
  writeFileSync(join(work, 'large.bin'), large);
  for (let n = 0; n < 20; n++) {
    writeFileSync(join(work, `file-${n}.txt`), `content ${n}\n`);
    git(work, 'add', '.');
    git(work, 'commit', '--quiet', '-m', `Commit ${n}`);
  }
  git(root, 'clone', '--quiet', '--bare', 'work', 'project.git');
  git(join(root, 'project.git'), 'config', 'http.receivepack', 'true');
}

// Runs `git http-backend`, which is a CGI program.
function runBackend(root, request, response) {
  const { pathname, search } = new URL(request.url, 'http://server');
  const env = {
    PATH: process.env.PATH,
    HOME: root,
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    REQUEST_METHOD: request.method,
    PATH_INFO: pathname,
    QUERY_STRING: search.slice(1),
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    CONTENT_LENGTH: request.headers['content-length'] ?? '',
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    GIT_PROTOCOL: request.headers['git-protocol'] ?? '',
    REMOTE_USER: 'user',
    REMOTE_ADDR: '127.0.0.1',
  };
  const child = spawn('git', ['http-backend'], { env });
  child.stdin.on('error', () => {});
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  child.stdout.on('data', function readHead(chunk) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    child.stdout.off('data', readHead);
    const headers = head
      .toString('latin1', 0, end)
      .split('\r\n')
      .map((line) => line.split(': '));
    const status = headers.find(([name]) => name === 'Status');
    response.writeHead(Number.parseInt(status?.[1] ?? '200', 10), Object.fromEntries(headers.filter((one) => one !== status)));
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  });
}

async function startGit() {
  const folder = temporaryFolder();
  makeRepository(folder.path);
  const expected = `Basic ${Buffer.from('user:password').toString('base64')}`;
  const server = createServer((request, response) => {
    if (request.headers.authorization === expected) return runBackend(folder.path, request, response);
    response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  const { port } = server.address();
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections()).finally(folder.remove);
  return { ports: [port], env: { REPOSITORY: `http://${HOST}:${port}/project.git` }, close };
}

async function startS3() {
  const S3rver = load('s3rver');
  const folder = temporaryFolder();
  const server = new S3rver({
    address: '0.0.0.0',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: 'bucket' }],
  });
  const { port } = await server.run();
  return {
    ports: [port],
    env: { SERVER: `http://${HOST}:${port}` },
    close: () => server.close().finally(folder.remove),
  };
}

describe.skipIf(HOST === undefined)('stores', () => {
  test('isomorphic-git', () => expectOutput('isomorphic-git', startGit), CLIENT_MS);
  test('@aws-sdk/client-s3', () => expectOutput('aws-s3', startS3), CLIENT_MS);
});
