// The folder of the clients' and servers' packages, and the servers that run in the process of the
// tests. The packages are installed by the first import.

import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installed } from '../npm-table/install.mjs';

/** The folder of the programs and of the manifest. */
export const folder = dirname(fileURLToPath(import.meta.url));

/** The folder that contains `node_modules`. */
export const packages = installed(folder);

/** Loads an installed package. */
export const load = createRequire(`${packages}/package.json`);

export const { WebSocketServer } = load('ws');
