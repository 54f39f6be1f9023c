// Collects the cases of mounted folders: links that lead out, changes, and folders that move.

import type { Theme } from '../../harness/case.js';
import { changes } from './changes.js';
import { moved } from './moving.js';
import { leadingOut } from './outward-links.js';

export const mounts: Theme = { name: 'mounts', cases: [...leadingOut, ...changes, ...moved] };
