// Tests packages of a pnpm workspace, with the workspace of this repository.

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { MODES, withRuntime } from './modes.js';

const root = fileURLToPath(new URL('../../../..', import.meta.url)).replace(/\/$/, '');
const own = `${root}/packages/sdk/node_modules`;

const program = `
  try {
    const z = await import('zod');
    console.log(z.string().parse('found'), (await import('node:fs')).realpathSync('node_modules/zod').split('@')[0]);
  } catch (error) {
    console.log(error.code, /leads out of its mounted folder, to '[^']*node_modules\\/\\.pnpm\\/zod@/.test(error.message));
  }
`;

describe.each(MODES)('$name', (mode) => {
  test('finds a package whose link leaves the folder inside a folder of `roots`', () =>
    withRuntime(mode, { nodeModules: { hostPath: own, roots: [`${root}/node_modules`] } }, async (runtime) => {
      const { stdout, stderr } = await runtime.exec(program);
      expect([stderr, stdout]).toEqual(['', 'found /node_modules/.pnpm/zod\n']);
    }));

  test('the error names the missing folder without `roots`', () =>
    withRuntime(mode, { nodeModules: own }, async (runtime) => {
      await expect(runtime.readDir('/workspace/node_modules/zod')).rejects.toMatchObject({
        code: 'EACCES',
        message: expect.stringMatching(/leads out of its mounted folder, to '[^']*node_modules\/\.pnpm\/zod@/),
      });
    }));
});
