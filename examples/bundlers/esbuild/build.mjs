// Bundles the app with esbuild: `node esbuild/build.mjs`.

import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await build({
  entryPoints: [here('../app.mjs')],
  outfile: here('dist/app.mjs'),
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.11',
  external: ['coldframe'],
});
