// just-bash's filesystem over the runtime's own, through Node's `fs`: a path has the same meaning
// as for other programs. The calls are synchronous, because the kernel replies at once.
// Next: interpreter.js.

import fs from 'node:fs';
import { posix } from 'node:path';
import { recorded } from './failures.js';

const BYTES = new Set(['binary', 'latin1']);
const encodingOf = (options) => (typeof options === 'string' ? options : options?.encoding);
const bytesOf = (content, options) =>
  typeof content === 'string'
    ? Buffer.from(content, BYTES.has(encodingOf(options)) ? 'latin1' : (encodingOf(options) ?? 'utf8'))
    : content;

const facts = (stats) => ({
  isFile: stats.isFile() || stats.isCharacterDevice(),
  isDirectory: stats.isDirectory(),
  isSymbolicLink: stats.isSymbolicLink(),
  mode: stats.mode & 0o7777,
  size: stats.size,
  mtime: stats.mtime,
  dev: stats.dev,
  ino: stats.ino,
  identity: `${stats.dev}:${stats.ino}`,
});

const entry = (dirent) => ({
  name: dirent.name,
  isFile: dirent.isFile(),
  isDirectory: dirent.isDirectory(),
  isSymbolicLink: dirent.isSymbolicLink(),
});

export const filesystem = recorded({
  async readFile(path, options) {
    return fs.readFileSync(path).toString(encodingOf(options) ?? 'utf8');
  },
  async readFileBytes(path) {
    return fs.readFileSync(path).toString('latin1');
  },
  async readFileBuffer(path) {
    return new Uint8Array(fs.readFileSync(path));
  },
  async writeFile(path, content, options) {
    fs.writeFileSync(path, bytesOf(content, options));
  },
  async appendFile(path, content, options) {
    fs.appendFileSync(path, bytesOf(content, options));
  },
  async exists(path) {
    return fs.existsSync(path);
  },
  async stat(path) {
    return facts(fs.statSync(path));
  },
  async lstat(path) {
    return facts(fs.lstatSync(path));
  },
  async mkdir(path, options) {
    fs.mkdirSync(path, { recursive: options?.recursive ?? false });
  },
  async readdir(path) {
    return fs.readdirSync(path);
  },
  async readdirWithFileTypes(path) {
    return fs.readdirSync(path, { withFileTypes: true }).map(entry);
  },
  async rm(path, options) {
    // Node's `rm` refuses an empty directory, so `rmdir` removes the directory.
    if (!options?.recursive && fs.lstatSync(path, { throwIfNoEntry: !options?.force })?.isDirectory()) fs.rmdirSync(path);
    else fs.rmSync(path, { recursive: options?.recursive ?? false, force: options?.force ?? false });
  },
  async cp(from, to, options) {
    if (!options?.recursive && fs.statSync(from).isFile()) fs.copyFileSync(from, to);
    else fs.cpSync(from, to, { recursive: options?.recursive ?? false, verbatimSymlinks: true });
  },
  async mv(from, to) {
    try {
      fs.renameSync(from, to);
    } catch (error) {
      if (error.code !== 'EXDEV') throw error;
      fs.cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
      fs.rmSync(from, { recursive: true });
    }
  },
  async chmod(path, mode) {
    fs.chmodSync(path, mode);
  },
  async symlink(target, path) {
    fs.symlinkSync(target, path);
  },
  async link(from, to) {
    fs.linkSync(from, to);
  },
  async readlink(path) {
    return fs.readlinkSync(path);
  },
  async realpath(path) {
    return fs.realpathSync(path);
  },
  async utimes(path, atime, mtime) {
    fs.utimesSync(path, atime, mtime);
  },
  resolvePath: (base, path) => posix.resolve(base, path),
  getAllPaths: () => [],
});
