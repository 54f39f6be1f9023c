// The packages of the table run their main function in the sandbox, with the output of Node
// (npm-table/).

import { NodeRuntime, Sidecar } from 'coldframe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installed } from '../../npm-table/install.mjs';
import { inNode, inSandbox } from '../../npm-table/run.mjs';
import { table } from '../../npm-table/table.mjs';

const INSTALL_MS = 300_000;
const PROGRAM_MS = 120_000;

let folder;
let sidecar;

beforeAll(async () => {
  folder = installed();
  sidecar = await Sidecar.spawn({ workers: 1 });
}, INSTALL_MS);

afterAll(() => sidecar?.dispose());

test('lists 61 packages, each with its version and job', () => {
  expect(table).toHaveLength(61);
  for (const { version, about } of table) expect([version, about]).toEqual([expect.any(String), expect.any(String)]);
});

test.for(table)(
  '$name: $about',
  async ({ code }) => {
    const expected = await inNode(code, folder);
    const { exitCode, stdout, stderr } = await inSandbox({ NodeRuntime }, sidecar, code, folder);
    expect(expected).toMatchObject({ exitCode: 0, stderr: '' });
    expect(expected.stdout).not.toBe('');
    expect({ exitCode, stdout, stderr }).toEqual(expected);
  },
  PROGRAM_MS,
);
