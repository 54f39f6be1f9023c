// Prepares a warm runner with packages loaded: all of zod with its languages, and the modules of
// Node that a server would have loaded. The package is in the runtime's files, as an installed
// package is, so a snapshot contains the package. A probe calls the loaded package with new
// numbers, to check that a restored runner still has the package.

import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { evaluateRight, type MeasuredRuntime, type MeasuredSidecar } from './runtime.js';
import type { Snippet } from './snippet.js';

export const PACKAGES = 'zod 4 (whole, CommonJS), node:http, node:zlib, node:crypto, node:stream/promises';

const GUEST_FOLDER = '/workspace/node_modules/zod';

/** Returns the package's CommonJS files, by their path in the guest. */
function packageFiles(): Record<string, string> {
  const root = dirname(createRequire(import.meta.url).resolve('zod/package.json'));
  const files: Record<string, string> = {};
  const visit = (folder: string) => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) visit(path);
      else if (name.endsWith('.cjs') || name === 'package.json')
        files[`${GUEST_FOLDER}/${relative(root, path)}`] = readFileSync(path, 'utf8');
    }
  };
  visit(root);
  return files;
}

const loadPackages: Snippet = {
  code: `
import { createRequire } from 'node:module';
import 'node:http';
import 'node:zlib';
import 'node:crypto';
import 'node:stream/promises';
const { z } = createRequire('/workspace/')('zod');
globalThis.order = z.object({ amount: z.number().int(), currency: z.enum(['EUR', 'USD']), lines: z.array(z.string()).min(1) });
console.log(typeof order.parse);`,
  stdout: 'function\n',
};

/** Makes a probe to which only a runner with the loaded packages can reply. */
export function packageQuestion(): Snippet {
  const [amount, factor] = [randomInt(1, 1_000_000), randomInt(1, 1_000)];
  return {
    code: `console.log(
  order.parse({ amount: ${amount}, currency: 'EUR', lines: ['a'] }).amount * ${factor},
  order.safeParse({}).success,
);`,
    stdout: `${amount * factor} false\n`,
  };
}

/** Creates a runtime with a runner that has loaded the packages and has replied once. */
export async function createPackageParent(sidecar: MeasuredSidecar): Promise<MeasuredRuntime> {
  const parent = await sidecar.create({ runner: true, files: packageFiles() });
  await evaluateRight(parent, loadPackages);
  await evaluateRight(parent, packageQuestion());
  return parent;
}
