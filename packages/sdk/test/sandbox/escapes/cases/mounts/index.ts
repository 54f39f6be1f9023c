// Folders of the host in the guest's tree: what leads out of them.

import type { Theme } from '../../harness/case.js';
import { changes } from './changes.js';
import { leadingOut } from './leading-out.js';
import { moved } from './moving.js';

export const mounts: Theme = { name: 'mounts', cases: [...leadingOut, ...changes, ...moved] };
