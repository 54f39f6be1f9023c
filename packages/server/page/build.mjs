// Bundles the web page into `dist/ui`: one script, one style sheet, the document and the icon. The
// page loads nothing from another server.

import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const OUT = at('../dist/ui/');

/** Returns a comment that names the packages in a file, for NOTICE. */
function contained({ inputs }) {
  const names = Object.keys(inputs).flatMap((path) => /.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return names.length === 0 ? '' : `/* Contains ${[...new Set(names)].sort().join(', ')} */\n`;
}

const { outputFiles, metafile } = await build({
  entryPoints: { page: at('main.tsx') },
  outdir: OUT,
  absWorkingDir: at('.'),
  write: false,
  metafile: true,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  logLevel: 'warning',
});
rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
for (const { path, text } of outputFiles) {
  const [, output] = Object.entries(metafile.outputs).find(([name]) => basename(name) === basename(path));
  writeFileSync(path, text + contained(output));
}
for (const name of ['index.html', 'icon.svg']) copyFileSync(at(name), `${OUT}${name}`);
