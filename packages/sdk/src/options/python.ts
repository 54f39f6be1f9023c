// The option `python` of `NodeRuntime.create()`: packages for programs in Python. Next:
// `runtime/python-packages.ts`, which installs the packages.

import { NETWORK_OPTIONS, type NetworkOptions } from './outside.js';
import { type Fault, HOST_FILE, listOf, matching, rule } from './rule.js';
import { known, type OptionTable, objectWith } from './table.js';

/** Packages for programs in Python. See `docs/api/python.md`. */
export interface PythonOptions {
  /**
   * Requirements such as `requests` or `flask>=3,<4`, and paths of wheels of this machine, which
   * end in `.whl`. pip installs them in a sandbox. Later calls with an equal list restore a
   * snapshot on disk.
   * @default []
   */
  packages?: readonly string[] | undefined;
  /** A requirements file of this machine, which may have hashes. @default none */
  requirements?: string | undefined;
  /**
   * Names of packages that are built from their source distributions, such as `markupsafe`, which
   * `flask` needs. The build must work without a compiler. @default []
   */
  noBinary?: readonly string[] | undefined;
  /** The index of packages. @default 'https://pypi.org/simple' */
  indexUrl?: string | undefined;
  /** Further indexes. @default [] */
  extraIndexUrls?: readonly string[] | undefined;
  /**
   * The connections of the installation. Without this option, the installation reaches only the
   * hosts of the indexes, and `*.pythonhosted.org` for the index `pypi.org`.
   */
  network?: NetworkOptions | undefined;
}

// The first character keeps a requirement from being an option of pip.
const REQUIREMENT = /^[A-Za-z0-9][^\0\p{Cc}\p{Cs}]{0,999}$/u;
const WHEEL = /^[^\0]+\.whl$/s;
const REQUIREMENT_EXPECTED = 'a requirement such as flask>=3, or the path of a wheel (.whl)';

/** Returns whether an entry of `packages` is the path of a wheel. A requirement may be a URL. */
export const isWheelPath = (entry: string): boolean => WHEEL.test(entry) && !entry.includes('://');

const isEntry = (value: unknown): boolean => typeof value === 'string' && (isWheelPath(value) || REQUIREMENT.test(value));

const INDEX_URL = matching(/^https?:\/\/[^\s\0]{1,2000}$/, 'a URL of an index, such as https://pypi.org/simple');

const PYTHON: OptionTable<PythonOptions> = {
  packages: known(listOf(rule(isEntry, REQUIREMENT_EXPECTED), `a list with ${REQUIREMENT_EXPECTED}`), ['install']),
  requirements: known(HOST_FILE, ['requirementsFile']),
  noBinary: listOf(matching(/^[A-Za-z0-9][\w.-]{0,199}$/, 'the name of a package'), 'a list of names of packages'),
  indexUrl: known(INDEX_URL, ['index', 'registry']),
  extraIndexUrls: known(listOf(INDEX_URL, 'a list of URLs of indexes'), ['extraIndexUrl']),
  network: NETWORK_OPTIONS,
};

function parsable({ indexUrl, extraIndexUrls = [] }: Readonly<Record<string, unknown>>): Fault | undefined {
  const urls = [...(indexUrl === undefined ? [] : [indexUrl]), ...(extraIndexUrls as readonly unknown[])];
  const wrong = urls.find((url) => !URL.canParse(url as string));
  return wrong === undefined ? undefined : { path: ['indexUrl'], expected: INDEX_URL.expected, received: wrong };
}

/** Accepts the option `python`. */
export const PYTHON_OPTIONS = objectWith(PYTHON, undefined, parsable);

/** Returns whether the option `python` names packages. */
export const hasPackages = ({ python }: { python?: PythonOptions | undefined }): boolean =>
  python !== undefined && ((python.packages ?? []).length > 0 || python.requirements !== undefined);
