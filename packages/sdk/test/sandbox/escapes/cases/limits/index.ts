// Every limit exceeded on purpose: the outcome is a typed error for the caller, or the errno that Linux gives the program.

import type { EscapeCase, Theme } from '../../harness/case.js';
import { engine } from './engine.js';
import { kernel } from './kernel.js';
import { outside } from './outside.js';

export const limits: Theme = { name: 'limits', cases: [...kernel, ...engine, ...outside] satisfies EscapeCase[] };
