// Bundles the shell into one file for the image: the files of shell/ and just-bash. Only the build
// needs esbuild. Next: the imager makes a second image from the bundle (`shell.image`).
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { adaptJustBash } from './just-bash.mjs';
import { packageDir, shellInputsDir } from './paths.mjs';
import { say } from './progress.mjs';

const entry = fileURLToPath(import.meta.resolve('just-bash'));

/** Returns the bundle's text and its inputs. */
export async function bundleShell() {
  const { outputFiles, metafile } = await build({
    entryPoints: [join(packageDir, 'shell', 'index.js')],
    bundle: true,
    write: false,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: 'esnext',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'error',
    mainFields: ['module', 'main'],
    external: ['coldframe:kernel', 'node-liblzma', '@mongodb-js/zstd'],
    define: { 'import.meta.url': '"file:///shell.js"' },
    plugins: [adaptJustBash({ entry, read: (path) => readFileSync(path, 'utf8') })],
  });
  return { text: outputFiles[0].text, metafile };
}

/** Makes `dist/shell-inputs/shell.js`. */
export async function buildShell() {
  const { text } = await bundleShell();
  mkdirSync(shellInputsDir, { recursive: true });
  writeFileSync(join(shellInputsDir, 'shell.js'), text);
  say(`shell.js ${(text.length / 1024).toFixed(0)} KiB`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    await buildShell();
  } catch (error) {
    say(error.stack ?? String(error));
    process.exitCode = 1;
  }
}
