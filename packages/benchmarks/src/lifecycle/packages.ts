// A parent with packages loaded: zod, all of it with its languages, and the library that a server would have loaded. It lies in the box as files, as an installed
// package does, and a snapshot takes it along. The question makes the loaded package work on numbers that it has not seen.

import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import type { Snippet } from '../scenarios/snippet.js';

export const PACKAGES = 'zod 4 (whole, CommonJS), node:http, node:zlib, node:crypto, node:stream/promises';

const GUEST = '/workspace/node_modules/zod';

/** The package's CommonJS files, by their path in the guest. */
export function packageFiles(): Record<string, string> {
  const root = dirname(createRequire(import.meta.url).resolve('zod/package.json'));
  const files: Record<string, string> = {};
  const visit = (folder: string) => {
    for (const name of readdirSync(folder)) {
      const path = join(folder, name);
      if (statSync(path).isDirectory()) visit(path);
      else if (name.endsWith('.cjs') || name === 'package.json')
        files[`${GUEST}/${relative(root, path)}`] = readFileSync(path, 'utf8');
    }
  };
  visit(root);
  return files;
}

export const loadPackages: Snippet = {
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

export function askPackages(): Snippet {
  const [amount, factor] = [randomInt(1, 1_000_000), randomInt(1, 1_000)];
  return {
    code: `console.log(order.parse({ amount: ${amount}, currency: 'EUR', lines: ['a'] }).amount * ${factor}, order.safeParse({}).success);`,
    stdout: `${amount * factor} false\n`,
  };
}
