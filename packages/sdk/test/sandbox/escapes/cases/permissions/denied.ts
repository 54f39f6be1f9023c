// Defines the folder that the policy of a case denies, and makes cases that try to enter the
// folder.

import type { NodeRuntimeOptions } from '../../../../../src/index.js';
import type { EscapeCase } from '../../harness/case.js';

const FS = { default: 'allow', rules: [{ mode: 'deny', paths: ['/secret'] }] } as const;

/** Options with a folder `/secret` that `fs` denies, and a folder `/open` that `fs` allows. */
export const DENIED: NodeRuntimeOptions = {
  files: { '/secret/key': 'top-secret', '/secret/main.js': 'console.log("ran")', '/open/file': 'open' },
  permissions: { fs: FS },
};

const OPEN = `fs.chmodSync('/open', 0o755); process.chdir('/open');`;

/** A case whose program tries to enter `/secret`. */
export const denied = (name: string, program: string, expected: string | RegExp = 'EACCES'): EscapeCase => ({
  name: `permissions: ${name}`,
  options: DENIED,
  program: `${OPEN}\n${program}`,
  expected,
});
