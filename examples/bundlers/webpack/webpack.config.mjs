// Bundles the app with webpack as an ES module: `webpack --config webpack/webpack.config.mjs`.

import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export default {
  mode: 'production',
  target: 'node20.11',
  entry: here('../app.mjs'),
  output: { path: here('dist'), filename: 'app.mjs', module: true, chunkFormat: 'module' },
  experiments: { outputModule: true },
  externals: { coldframe: 'module coldframe' },
};
