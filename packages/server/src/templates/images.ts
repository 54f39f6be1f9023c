// The Docker images that stand for the template `base`. No image is downloaded.

const STANDS_FOR_BASE = new Set(['debian', 'ubuntu', 'node', 'buildpack-deps', 'e2bdev/base', 'e2bdev/code-interpreter']);

/** Returns whether the image stands for the template `base`. */
export function isBaseImage(image: string): boolean {
  const name = image
    .toLowerCase()
    .replace(/@sha256:[0-9a-f]+$/, '')
    .replace(/:[^/:]*$/, '')
    .replace(/^(?:index\.)?docker\.io\//, '')
    .replace(/^library\//, '');
  return STANDS_FOR_BASE.has(name);
}
