// Makes the folders of a case on the host machine: a folder to mount, and a neighbouring folder
// that no guest may reach.
//
// The canary is a file outside of every mount. The canary's times are long ago, so the host machine
// records a read even if the file system records only the first read (`relatime`).

import { createHash, randomUUID } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONG_AGO = new Date('2001-01-01');
/**
 * The time of the last change: later than the time of the last read, so that the next read is
 * recorded.
 */
const LATER = new Date('2002-01-01');

/** The folder of the suite. Each case has its own folder in the suite's folder. */
export class HostFolders {
  readonly root = mkdtempSync(join(tmpdir(), 'coldframe-escapes-'));
  readonly canary = join(this.root, 'canary');
  readonly secret = `canary-${randomUUID()}`;
  #count = 0;

  constructor() {
    writeFileSync(this.canary, this.secret);
    utimesSync(this.canary, LONG_AGO, LATER);
  }

  /** Makes the folders of a case. */
  forCase(): CaseFolders {
    return new CaseFolders(join(this.root, String(++this.#count)), this);
  }

  /** Returns a sentence about a read or a change of the canary, or `undefined`. */
  canaryProblem(): string | undefined {
    const { atimeMs, mtimeMs, size, nlink } = statSync(this.canary);
    if (atimeMs !== LONG_AGO.getTime()) return 'the canary was read';
    if (mtimeMs !== LATER.getTime() || size !== this.secret.length || nlink !== 1) return 'the canary was changed';
    return undefined;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** The folders of one case. */
export class CaseFolders {
  /** The folder that a case may mount. */
  readonly inside: string;
  /** The folder beside `inside`, with a file `protected`. */
  readonly outside: string;

  readonly root: string;
  readonly parent: HostFolders;

  constructor(root: string, parent: HostFolders) {
    this.root = root;
    this.parent = parent;
    this.inside = join(root, 'inside');
    this.outside = join(root, 'outside');
    mkdirSync(join(this.inside, 'dir/deep'), { recursive: true });
    mkdirSync(this.outside, { recursive: true });
    writeFileSync(join(this.inside, 'dir/file'), 'inside');
    writeFileSync(join(this.outside, 'protected'), parent.secret);
  }

  /** Returns a digest of a folder: names, types, modes, contents. */
  digest(folder = this.outside): string {
    const hash = createHash('sha256');
    const add = (path: string, name: string): void => {
      const stat = lstatSync(path);
      hash.update(`${name} ${stat.mode} ${stat.size}\n`);
      if (stat.isSymbolicLink()) hash.update(readlinkSync(path));
      else if (stat.isFile()) hash.update(readFileSync(path));
      else if (stat.isDirectory()) for (const child of readdirSync(path).sort()) add(join(path, child), `${name}/${child}`);
    };
    add(folder, '');
    return hash.digest('hex');
  }
}
