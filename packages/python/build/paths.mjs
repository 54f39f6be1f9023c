// All paths of the build of the Python guest. The product is in `dist/`. The cache of the runner's
// build (packages/runner/build/paths.mjs) has everything that can be made again.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export { cacheDir } from '../../runner/build/paths.mjs';

export const packageDir = fileURLToPath(new URL('..', import.meta.url));
/** The results of `configure`, which build/configure.sh writes. */
export const configDir = join(packageDir, 'config');
export const patchesDir = join(packageDir, 'patches');
export const shimDir = join(packageDir, 'shim');
/** Headers that replace headers of WASI's libc, for the units with the flag `-Iinclude`. */
export const includeDir = join(packageDir, 'include');
export const bootstrapDir = join(packageDir, 'bootstrap');
/** The manifest that pins the packages with the sources of the C libraries. */
export const sourcesDir = join(packageDir, 'sources');
export const runnerShimDir = join(packageDir, '..', 'runner', 'engine', 'shim');

export const distDir = join(packageDir, 'dist');
export const pythonPath = join(distDir, 'python.wasm');
/** The root folder that the image build serves to the guest. */
export const rootDir = join(distDir, 'root');
/** The standard library in `rootDir`. */
export const LIBRARY = 'usr/lib/python3.13';
