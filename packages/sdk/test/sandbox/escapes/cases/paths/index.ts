// Paths: everything that a name can be made to mean.

import type { Theme } from '../../harness/case.js';
import { dots } from './dots.js';
import { hostFiles } from './host-files.js';
import { links } from './links.js';

export const paths: Theme = { name: 'paths', cases: [...hostFiles, ...dots, ...links] };
