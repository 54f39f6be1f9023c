// All hostile programs. A new program needs an entry in the file of its group.

import { setTimeout as sleep } from 'node:timers/promises';
import { computing } from './computing.js';
import { files } from './files.js';
import { ofOwner, processes } from './processes.js';
import type { HostileProgram } from './program.js';

/** The figures of the machine itself: the runtimes exist, and no program runs. */
const nothing: HostileProgram = { name: 'no program, for comparison', calls: () => sleep(50), isQuick: true };

export const hostilePrograms: readonly HostileProgram[] = [nothing, ...computing, ...files, ...processes, ...ofOwner];
