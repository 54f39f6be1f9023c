// Bundles the app with Vite, with all packages except coldframe: `vite build vite`.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  build: {
    ssr: fileURLToPath(new URL('../app.mjs', import.meta.url)),
    target: 'node20',
  },
  ssr: {
    noExternal: true,
    external: ['coldframe'],
  },
});
