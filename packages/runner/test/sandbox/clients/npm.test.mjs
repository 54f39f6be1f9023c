// `npm install` in a runtime, against the registry verdaccio on this machine. The test publishes
// packages into the registry, and mounts npm from a folder of this machine. Next: clients.mjs.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pinnedNode } from '@coldframe/pinned-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packages } from '../../../npm-clients/packages.mjs';
import { CLIENT_MS, createRuntime, HOST, useSidecar } from './clients.mjs';
import { freePort, startProcess, temporaryFolder } from './servers.mjs';

useSidecar();

const ROOTS = ['axios', 'got', 'socket.io-client', 'semver'];
// The script of the command `npm` expects npm's folder beside the program `node`.
const NPM = '/usr/local/bin/node_modules/npm';

let port;
let folder;
let stop;

/** Returns the folder of package `name` as package `from` finds it. */
function folderOf(name, from) {
  for (const place of createRequire(join(from, 'package.json')).resolve.paths(name)) {
    try {
      readFileSync(join(place, name, 'package.json'));
      return join(place, name);
    } catch {
      // The package is not in this folder.
    }
  }
  throw new Error(`${name} is not installed`);
}

/** Returns the folders of the packages `names` and of all their dependencies. */
function closure(names, from, found = new Set()) {
  for (const name of names) {
    const place = folderOf(name, from);
    if (found.has(place)) continue;
    found.add(place);
    const { dependencies = {} } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
    closure(Object.keys(dependencies), place, found);
  }
  return found;
}

async function publish(place) {
  const manifest = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
  const { name, version } = manifest;
  const args = ['-czf', '-', '--exclude=node_modules', '--transform=s,^\\.,package,', '.'];
  const { stdout: archive, status } = spawnSync('tar', args, { cwd: place, maxBuffer: 100e6 });
  if (status !== 0) throw new Error(`${name} cannot be packed`);
  const file = `${name.split('/').at(-1)}-${version}.tgz`;
  const integrity = `sha512-${createHash('sha512').update(archive).digest('base64')}`;
  const dist = { integrity, tarball: `http://127.0.0.1:${port}/${name}/-/${file}` };
  const response = await fetch(`http://127.0.0.1:${port}/${encodeURIComponent(name)}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      _id: name,
      name,
      'dist-tags': { latest: version },
      versions: { [version]: { ...manifest, _id: `${name}@${version}`, dist } },
      _attachments: {
        [file]: { content_type: 'application/octet-stream', data: archive.toString('base64'), length: archive.length },
      },
    }),
  });
  // Two versions of one package are published one after the other.
  if (!response.ok) throw new Error(`${name} cannot be published: ${response.status} ${await response.text()}`);
}

// A package whose installation runs a script, and that has a command.
function writeScripted(place) {
  mkdirSync(place);
  const scripts = { postinstall: 'node build.js && echo built > built.txt' };
  const manifest = { name: 'scripted', version: '1.0.0', scripts, bin: { scripted: 'command.js' } };
  writeFileSync(join(place, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(place, 'build.js'),
    "require('fs').writeFileSync('made.json', JSON.stringify(process.env.npm_package_name))",
  );
  writeFileSync(join(place, 'command.js'), "#!/usr/bin/env node\nconsole.log('scripted says', require('./made.json'));\n");
}

beforeAll(async () => {
  if (HOST === undefined) return;
  folder = temporaryFolder();
  port = await freePort();
  const config = join(folder.path, 'config.yaml');
  writeFileSync(
    config,
    `storage: ${folder.path}/storage
auth: { htpasswd: { file: ${folder.path}/users } }
packages: { '**': { access: $all, publish: $all } }
max_body_size: 100mb
log: { type: stdout, level: error }
`,
  );
  const args = [join(packages, 'node_modules/verdaccio/bin/verdaccio'), '--config', config, '--listen', `0.0.0.0:${port}`];
  stop = await startProcess(pinnedNode().binary, args, port, { cwd: folder.path, env: { HOME: folder.path } });
  writeScripted(join(folder.path, 'scripted'));
  for (const place of closure(ROOTS, packages)) await publish(place);
  await publish(join(folder.path, 'scripted'));
}, CLIENT_MS);

afterAll(async () => {
  await stop?.();
  folder?.remove();
});

const MANIFEST = {
  name: 'project',
  private: true,
  type: 'module',
  dependencies: Object.fromEntries([...ROOTS, 'scripted'].map((name) => [name, '*'])),
  scripts: { start: 'scripted && semver 1.2.3 --increment minor' },
};

describe.skipIf(HOST === undefined)('npm', () => {
  test(
    'installs a project, runs its scripts, and installs the project again by its lockfile',
    async () => {
      const runtime = await createRuntime([port], {
        nodeModules: undefined,
        mounts: [{ guestPath: NPM, hostPath: join(packages, 'node_modules/npm') }],
        files: {
          '/workspace/package.json': JSON.stringify(MANIFEST),
          '/workspace/.npmrc': `registry=http://${HOST}:${port}/\naudit=false\nfund=false\nupdate-notifier=false\n`,
        },
        env: { PATH: `${NPM}/bin:/usr/local/bin:/usr/bin:/bin` },
        limits: { memoryBytes: 1 << 30, cpuMs: CLIENT_MS },
      });
      const npm = async (...args) => {
        const { exitCode, stdout, stderr } = await runtime.execCommand('npm', args);
        return { exitCode, stdout, stderr };
      };
      try {
        const installed = await npm('install');
        expect(installed).toMatchObject({ exitCode: 0, stderr: '' });
        expect(installed.stdout).toMatch(/added \d\d packages/);
        expect(await npm('start', '--silent')).toEqual({ exitCode: 0, stdout: 'scripted says scripted\n1.3.0\n', stderr: '' });
        const used = await runtime.exec(
          "import axios from 'axios'; import { io } from 'socket.io-client'; console.log(axios.name, io.name);",
        );
        expect(used).toMatchObject({ exitCode: 0, stdout: 'wrap lookup\n' });
        expect((await npm('ls', '--all', '--parseable')).exitCode).toBe(0);
        expect(await npm('ci')).toMatchObject({ exitCode: 0, stderr: '' });
        const missing = await npm('install', 'not-published');
        expect(missing).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('npm error code E404') });
      } finally {
        await runtime.dispose();
      }
    },
    CLIENT_MS,
  );
});
