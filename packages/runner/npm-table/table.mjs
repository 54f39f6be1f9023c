// The npm table: widely used packages from different fields, each with a program
// (`programs/NAME.mjs`) that loads the package and does its main job.
// test/sandbox/npm-table.test.mjs runs each in the sandbox and in the pinned Node; both must print
// equal output. docs/node-compatibility.md lists them.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const folder = dirname(fileURLToPath(import.meta.url));

const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

// File names contain no slash and no @.
const packageOf = (name) => (name in dependencies ? name : `@${name.replace('-', '/')}`);

function read(file) {
  const name = file.slice(0, -'.mjs'.length);
  const code = readFileSync(join(folder, 'programs', file), 'utf8');
  const [, about] = /^\/\/ [^:]+: (.*)\.$/m.exec(code);
  const npm = packageOf(name);
  return { name: npm, version: dependencies[npm], about, code };
}

/** `[{ name, version, about, code }]`, by name. */
export const table = readdirSync(join(folder, 'programs')).sort().map(read);
