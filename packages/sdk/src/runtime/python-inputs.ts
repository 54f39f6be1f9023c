// Reads the files that the option `python` names, and computes the name of the snapshot with the
// packages. The name is a digest of the list, the files' contents, the indexes and Python's image.
// An entry without a version keeps the version of the first installation.

import { basename, join } from 'node:path';
import { pythonPackages } from '../errors/make.js';
import { isWheelPath, type PythonOptions } from '../options/python.js';
import { requireBuiltin } from '../packages/installed.js';
import { installation } from '../sidecar/locate.js';

/** The index without the option `indexUrl`. */
export const DEFAULT_INDEX = 'https://pypi.org/simple';
/** The form of the digest, and of the installation. */
const FORM = 1;

/** The checked option, with the contents of its files. */
export interface PackageInputs {
  readonly python: PythonOptions;
  /** The name of the snapshot. */
  readonly name: string;
  /** The requirements of the list. */
  readonly requirements: readonly string[];
  /** The files for the installation by their names: wheels, and the requirements file. */
  readonly wheels: ReadonlyMap<string, Uint8Array>;
  readonly requirementsFile: Uint8Array | undefined;
}

/** Reads the files of the option. @throws `ERR_PYTHON_PACKAGES` for a file that cannot be read */
export async function readInputs(python: PythonOptions): Promise<PackageInputs> {
  const { packages = [], requirements, indexUrl = DEFAULT_INDEX, extraIndexUrls = [], noBinary = [] } = python;
  const read = async (path: string): Promise<Uint8Array> => {
    try {
      return await requireBuiltin('node:fs').promises.readFile(path);
    } catch (error) {
      throw pythonPackages({ packages: [path], exitCode: null, output: (error as Error).message });
    }
  };
  const wheelPaths = packages.filter(isWheelPath);
  const wheels = new Map(await Promise.all(wheelPaths.map(async (path) => [basename(path), await read(path)] as const)));
  const requirementsFile = requirements === undefined ? undefined : await read(requirements);
  const inputs = [
    FORM,
    await imageDigest(),
    [...packages].map((entry) => (isWheelPath(entry) ? basename(entry) : entry)).sort(),
    [...wheels].map(([file, bytes]) => [file, digest(bytes)]).sort(),
    requirementsFile && digest(requirementsFile),
    indexUrl,
    extraIndexUrls,
    [...noBinary].sort(),
  ];
  const name = `python-packages-${digest(JSON.stringify(inputs)).slice(0, 32)}`;
  return { python, name, requirements: packages.filter((entry) => !isWheelPath(entry)), wheels, requirementsFile };
}

const digest = (data: string | Uint8Array): string =>
  requireBuiltin('node:crypto').createHash('sha256').update(data).digest('hex');

let image: Promise<string> | undefined;

/** Returns the digest of the image of Python. Empty without Python. */
function imageDigest(): Promise<string> {
  image ??= readImage();
  return image;
}

async function readImage(): Promise<string> {
  const folder = (await installation()).locatePython();
  return folder === undefined ? '' : digest(await requireBuiltin('node:fs').promises.readFile(join(folder, 'python.image')));
}
