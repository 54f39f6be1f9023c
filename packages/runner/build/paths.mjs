// All paths of the build. The product is in `dist/`. A cache outside the tree has everything that
// can be made again: `${XDG_CACHE_HOME:-~/.cache}/coldframe`.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const packageDir = fileURLToPath(new URL('..', import.meta.url));
export const engineDir = join(packageDir, 'engine');
export const patchesDir = join(engineDir, 'patches');
export const shimDir = join(engineDir, 'shim');
export const referencePath = join(engineDir, 'reference', 'reference.c');
export const bootstrapDir = join(packageDir, 'bootstrap');
export const distDir = join(packageDir, 'dist');
export const guestPath = join(distDir, 'guest.wasm');
export const inputsDir = join(distDir, 'inputs');
/** The folder of the additional inputs of the image with the shell. */
export const shellInputsDir = join(distDir, 'shell-inputs');

const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
export const cacheDir = join(cacheHome, 'coldframe');
