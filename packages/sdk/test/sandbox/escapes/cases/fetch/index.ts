// Collects the cases of `runtime.fetch()` and `runtime.connect()`: hostile servers in a guest.

import type { Theme } from '../../harness/case.js';
import { bodies } from './bodies.js';
import { heads } from './heads.js';

export const fetch: Theme = { name: 'fetch', cases: [...heads, ...bodies] };
