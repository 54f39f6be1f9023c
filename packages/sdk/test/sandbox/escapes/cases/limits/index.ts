// Collects the programs that exceed each limit. The outcome is a typed error for the app, or
// Linux's error number for the program.

import type { EscapeCase, Theme } from '../../harness/case.js';
import { calls } from './calls.js';
import { engine } from './engine.js';
import { kernel } from './kernel.js';

export const limits: Theme = { name: 'limits', cases: [...kernel, ...engine, ...calls] satisfies EscapeCase[] };
