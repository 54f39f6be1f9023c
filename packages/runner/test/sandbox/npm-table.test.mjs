// Sixty packages do their main job in the sandbox and print what they print in Node (npm-table/).

import { NodeRuntime, Sidecar } from 'coldframe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed } from '../../npm-table/install.mjs';
import { inNode, inSandbox } from '../../npm-table/run.mjs';
import { table } from '../../npm-table/table.mjs';

const INSTALL_MS = 300_000;
const PROGRAM_MS = 120_000;

// What some programs stand on and a build may not have yet: they run as soon as it has.
const PROBES = {
  sockets: "import { createServer } from 'node:net'; createServer().listen(0, function () { this.close(); });",
  hashes:
    "import { createHash, webcrypto } from 'node:crypto'; createHash('md5'); await webcrypto.subtle.digest('SHA-1', new Uint8Array(1));",
};
const NEEDS = {
  axios: ['sockets'],
  express: ['sockets', 'hashes'],
  hono: ['hashes'],
  jsonwebtoken: ['hashes'],
  koa: ['sockets'],
  uuid: ['hashes'],
  ws: ['sockets', 'hashes'],
};

let folder;
let sidecar;
const missing = new Set();

beforeAll(async () => {
  folder = installed();
  sidecar = await Sidecar.spawn({ workers: 1 });
  for (const [feature, code] of Object.entries(PROBES)) {
    const { stderr } = await inSandbox({ NodeRuntime }, sidecar, code, folder);
    if (stderr.includes('ERR_FEATURE_UNAVAILABLE_ON_PLATFORM')) missing.add(feature);
  }
}, INSTALL_MS);

afterAll(() => sidecar?.dispose());

test('there are sixty packages, each with what it does', () => {
  expect(table).toHaveLength(60);
  for (const { version, about } of table) expect([version, about]).toEqual([expect.any(String), expect.any(String)]);
});

test.for(table)(
  '$name: $about',
  async ({ name, code }, { skip }) => {
    const absent = (NEEDS[name] ?? []).filter((feature) => missing.has(feature));
    skip(absent.length > 0, `this build has no ${absent.join(' and ')}`);
    const expected = await inNode(code, folder);
    const { exitCode, stdout, stderr } = await inSandbox({ NodeRuntime }, sidecar, code, folder);
    expect(expected).toMatchObject({ exitCode: 0, stderr: '' });
    expect(expected.stdout).not.toBe('');
    expect({ exitCode, stdout, stderr }).toEqual(expected);
  },
  PROGRAM_MS,
);
