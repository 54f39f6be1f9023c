// Installs packages of Python in a runtime of their own, and stores its files as a snapshot. The
// runtime has no mounts, secrets and bindings of the app. It reaches only the indexes.

import { pythonPackages } from '../errors/make.js';
import type { NetworkOptions } from '../options/outside.js';
import type { PythonOptions } from '../options/python.js';
import { makeParts } from './load-parts.js';
import type { NodeRuntimeOptions } from './options.js';
import { DEFAULT_INDEX, type PackageInputs } from './python-inputs.js';
import type { Provision } from './python-packages.js';

const FOLDER = '/tmp/coldframe-packages';
const REQUIREMENTS = `${FOLDER}/requirements.txt`;
const MIB = 1_048_576;
/** The limits of the installation. The files also obey the limits of the new runtime. */
const LIMITS = { profile: 'default', cpuMs: 600_000, memoryBytes: 512 * MIB } as const;
const TIMEOUT_MS = 900_000;
/** The largest number of characters of pip's output in an error. */
const MAX_OUTPUT = 4_096;
const DEFAULT_HOSTS = ['pypi.org', '*.pythonhosted.org'];
/** Addresses that the policy calls private. */
const PRIVATE = /^(?:localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|\[(?:::1|f[cde]))/;

/** Installs the packages and stores the snapshot. @throws `ERR_PYTHON_PACKAGES` */
export async function buildPackages(options: NodeRuntimeOptions, inputs: PackageInputs, provision: Provision): Promise<void> {
  const { sidecar, walls, tenant } = options;
  const { filesystemBytes, inodes } = options.limits ?? {};
  const network = networkOf(inputs.python);
  const own = { sidecar, walls, tenant, network, limits: { ...LIMITS, filesystemBytes, inodes } };
  const parts = makeParts(await provision(own), own);
  try {
    await parts.files.mkdir(FOLDER, { recursive: true });
    for (const [file, bytes] of inputs.wheels) await parts.files.writeFile(`${FOLDER}/${file}`, bytes, {});
    if (inputs.requirementsFile !== undefined) await parts.files.writeFile(REQUIREMENTS, inputs.requirementsFile, {});
    const { exitCode, stdout, stderr, error } = await parts.programs.execCommand('pip', argumentsOf(inputs), {
      timeout: TIMEOUT_MS,
    });
    if (exitCode !== 0) {
      const output = `${stdout}${stderr}${error === undefined ? '' : `${error.message}\n`}`.slice(-MAX_OUTPUT);
      throw pythonPackages({ packages: [...(inputs.python.packages ?? [])], exitCode, output });
    }
    await parts.files.remove(FOLDER, { recursive: true });
    await parts.snapshots.take({ name: inputs.name, store: 'disk', memory: false });
  } finally {
    await parts.dispose();
  }
}

function argumentsOf({ python, requirements, wheels, requirementsFile }: PackageInputs): string[] {
  const { indexUrl = DEFAULT_INDEX, extraIndexUrls = [], noBinary = [] } = python;
  return [
    'install',
    '--no-input',
    `--index-url=${indexUrl}`,
    ...extraIndexUrls.map((url) => `--extra-index-url=${url}`),
    ...noBinary.map((name) => `--no-binary=${name}`),
    ...(requirementsFile === undefined ? [] : ['-r', REQUIREMENTS]),
    '--',
    ...[...wheels.keys()].map((file) => `${FOLDER}/${file}`),
    ...requirements,
  ];
}

/** Returns the policy of the installation: the hosts of the indexes. */
function networkOf({ indexUrl = DEFAULT_INDEX, extraIndexUrls = [], network }: PythonOptions): NetworkOptions {
  if (network !== undefined) return network;
  const allow: string[] = [];
  const loopbackOrPrivate: string[] = [];
  for (const url of [indexUrl, ...extraIndexUrls].map((text) => new URL(text))) {
    const port = url.port || (url.protocol === 'http:' ? '80' : '443');
    const host = url.hostname === 'localhost' ? '127.0.0.1' : url.hostname;
    (PRIVATE.test(url.hostname) ? loopbackOrPrivate : allow).push(`${host}:${port}`);
    if (url.hostname === 'pypi.org') allow.push(...DEFAULT_HOSTS);
  }
  return { allow, private: loopbackOrPrivate };
}
