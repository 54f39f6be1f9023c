// Collects the cases of paths that try to lead out of the guest's tree.

import type { Theme } from '../../harness/case.js';
import { dots } from './dots.js';
import { hostFiles } from './host-files.js';
import { links } from './links.js';

export const paths: Theme = { name: 'paths', cases: [...hostFiles, ...dots, ...links] };
