// The host's side of a case: a folder to mount, and beside it what nobody may reach.
//
// The canary is a file outside of every mount. Its times are set to long ago, so that the host notes a read of it even where it notes only the
// first (`relatime`).

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
/** Later than the last read: the next one is noted. */
const NOT_SO_LONG_AGO = new Date('2002-01-01');

/** See the module. One for the whole suite; each case has a folder of its own in it. */
export class Ground {
  readonly root = mkdtempSync(join(tmpdir(), 'coldframe-escapes-'));
  readonly canary = join(this.root, 'canary');
  readonly secret = `canary-${randomUUID()}`;
  #count = 0;

  constructor() {
    writeFileSync(this.canary, this.secret);
    utimesSync(this.canary, LONG_AGO, NOT_SO_LONG_AGO);
  }

  place(): Place {
    return new Place(join(this.root, String(++this.#count)), this);
  }

  /** What has happened to the canary: a sentence, or nothing. */
  lookAtCanary(): string | undefined {
    const { atimeMs, mtimeMs, size, nlink } = statSync(this.canary);
    if (atimeMs !== LONG_AGO.getTime()) return 'the canary was read';
    if (mtimeMs !== NOT_SO_LONG_AGO.getTime() || size !== this.secret.length || nlink !== 1) return 'the canary was changed';
    return undefined;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** See the module. */
export class Place {
  /** What a case may mount. */
  readonly inside: string;
  /** What lies beside it, with a file `prey` in it. */
  readonly outside: string;

  readonly root: string;
  readonly ground: Ground;

  constructor(root: string, ground: Ground) {
    this.root = root;
    this.ground = ground;
    this.inside = join(root, 'inside');
    this.outside = join(root, 'outside');
    mkdirSync(join(this.inside, 'dir/deep'), { recursive: true });
    mkdirSync(this.outside, { recursive: true });
    writeFileSync(join(this.inside, 'dir/file'), 'inside');
    writeFileSync(join(this.outside, 'prey'), ground.secret);
  }

  /** A digest of everything in a folder: names, types, modes, contents. */
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
