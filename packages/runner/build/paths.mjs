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
/** The folder of the sanitized guest and its images. No published package contains the folder. */
export const sanitizedDir = join(packageDir, '..', '..', '.build', 'sanitized');
/**
 * The module that the dev host and the tests run: the guest of the folder in `COLDFRAME_IMAGES`, or
 * the built guest.
 */
export const testedGuestPath = process.env.COLDFRAME_IMAGES ? join(process.env.COLDFRAME_IMAGES, 'guest.wasm') : guestPath;
export const inputsDir = join(distDir, 'inputs');
/** The folder of the additional inputs of the image with the shell. */
export const shellInputsDir = join(distDir, 'shell-inputs');

const cacheHome = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
export const cacheDir = join(cacheHome, 'coldframe');
