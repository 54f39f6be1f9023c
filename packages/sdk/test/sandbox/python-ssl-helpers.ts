// Names and functions of the tests of Python's `ssl`.

import { pythonDir } from '@coldframe/python';
import type { NodeRuntime } from '../../src/index.js';
import { AUTHORITY, CERTIFICATE, KEY } from './tls-certificates.js';

export const isBuilt = pythonDir() !== undefined;
export const NAME = 'secure.example.com';

export const IMPORTS = 'import asyncio, json, os, select, socket, ssl, time, urllib.request\n';
export const pem = `CA, CERT, KEY = ${[AUTHORITY, CERTIFICATE, KEY].map((text) => JSON.stringify(text)).join(', ')}\n`;
/** Writes the certificate and the key to files, from which Python loads them. */
export const files = `${pem}open('/tmp/cert.pem', 'w').write(CERT); open('/tmp/key.pem', 'w').write(KEY)\n`;

/** Runs a program with the modules that the tests use. Resolves with the lines of the output. */
export async function output(runtime: NodeRuntime, code: string): Promise<string[]> {
  const { stdout, stderr } = await runtime.exec(IMPORTS + code, { language: 'python' });
  return (stdout + stderr).trim().split('\n');
}
