// Collects the cases of permissions: names of denied files, other programs, other scopes.

import type { Theme } from '../../harness/case.js';
import { paths } from './paths.js';
import { programs } from './programs.js';
import { scopes } from './scopes.js';

export const permissions: Theme = { name: 'permissions', cases: [...paths, ...programs, ...scopes] };
