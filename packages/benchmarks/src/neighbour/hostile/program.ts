// Declares the type of a hostile program, and the code that precedes each program.

import type { NodeRuntime, NodeRuntimeOptions } from 'coldframe';

export interface HostileProgram {
  name: string;
  /** Options of the program's runtime. */
  options?: NodeRuntimeOptions;
  /** The program. The program that ends is started again. */
  code?: string;
  /** Calls of the app, repeated instead of a program. */
  calls?: (runtime: NodeRuntime) => Promise<unknown>;
  /** Whether the program is a part of the short form. */
  isQuick?: true;
}

export const PRELUDE = `
import fs from 'node:fs';
import net from 'node:net';
import dgram from 'node:dgram';
import crypto from 'node:crypto';
import zlib from 'node:zlib';
import { exec, spawn, spawnSync } from 'node:child_process';
const quietly = (work) => { try { return work(); } catch {} };
const tick = () => new Promise((resolve) => setImmediate(resolve));
process.on('uncaughtException', () => {});
process.on('unhandledRejection', () => {});
`;

const MANY = { processes: 64, descriptors: 4_096 };

/** Limits that let a program use as many processes and descriptors as it likes. */
export const roomy: NodeRuntimeOptions = { limits: MANY };
