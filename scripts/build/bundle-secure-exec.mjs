// Bundles the modules of `coldframe/secure-exec` into one module beside the bundle of the SDK. The
// module imports the SDK's classes from the SDK's bundle, so that an app that uses both has each
// class once. The rules of options have no state. They are the only code that both bundles have.

import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { fromRoot } from './paths.mjs';

/** Modules of the SDK with classes. The bundle of the SDK exports these classes. */
const OF_THE_SDK = ['index.js', 'errors/error.js'];

const fromTheSdk = (folder) => ({
  name: 'classes of the SDK',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) =>
      OF_THE_SDK.includes(relative(folder, resolve(resolveDir, path))) ? { path: './index.js', external: true } : undefined,
    );
  },
});

/** Writes `secure-exec.js` into the folder of a compiled SDK. */
export async function bundleSecureExec(folder) {
  const { build } = createRequire(fromRoot('packages/runner/package.json'))('esbuild');
  await build({
    entryPoints: [join(folder, 'secure-exec/index.js')],
    outfile: join(folder, 'secure-exec.js'),
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20.11',
    keepNames: true,
    plugins: [fromTheSdk(folder)],
    logLevel: 'warning',
  });
}
