// The runtime of one build, and the environment, user and directory that its steps have set.

import { posix } from 'node:path';
import type { Readable } from 'node:stream';
import { isColdframeError, type NodeRuntime } from 'coldframe';
import { environmentOf, type User, userOf } from '../envd/user.js';
import { isGlob, matchesGlob } from './glob.js';

/** The settings that steps change, and later steps and sandboxes use. */
export interface BoxSettings {
  env: Record<string, string>;
  user: string;
  workdir: string | undefined;
}

/** A step that failed because of its own content. */
export class StepError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StepError';
  }
}

/** Receives the lines of a command. */
export type OnLine = (stream: 'stdout' | 'stderr', line: string) => void;

/** The user, the output and the bounds of one command. */
export interface CommandWish {
  /** The name of the user. @default the user of the settings */
  user?: string | undefined;
  onLine: OnLine;
  signal?: AbortSignal | undefined;
  /** Milliseconds. */
  timeout?: number | undefined;
  /** As in `spawnCommand()`. @default 'kill' */
  orphans?: 'kill' | 'keep';
}

/** The files of one copy. */
export interface CopyWish {
  source: string;
  target: string;
  /** The name of the owner. @default the user of the settings */
  user: string | undefined;
  /** The permission bits of the files. @default the bits in the archive */
  mode: number | undefined;
}

/** The longest time of one command of a build, in milliseconds. */
const COMMAND_MS = 20 * 60_000;
const LONGEST_LINE = 4_096;

/** The runtime of one build. */
export class BuildBox {
  readonly runtime: NodeRuntime;
  readonly settings: BoxSettings;

  constructor(runtime: NodeRuntime, settings: BoxSettings) {
    this.runtime = runtime;
    this.settings = settings;
  }

  /** Runs a command as a user. Fails with {@link StepError} unless its exit code is 0. */
  async run(command: string, userName: string | undefined, onLine: OnLine, signal: AbortSignal): Promise<void> {
    const failed = (reason: string): StepError => new StepError(`failed to run command '${command}': ${reason}`);
    const process = await this.start(command, { user: userName, onLine, signal, timeout: COMMAND_MS }, failed);
    const code = await process.wait();
    if (code !== 0) throw failed(signal.aborted ? 'the build was cancelled' : `exit status ${code}`);
  }

  /** Starts a command as a user. `failed` makes the error. */
  async start(
    command: string,
    { user: name = this.settings.user, onLine, signal, timeout, orphans = 'kill' }: CommandWish,
    failed: (reason: string) => StepError,
  ) {
    const user = userOf(name);
    if (user === undefined) throw failed(`command failed: unauthenticated: invalid username: '${name}'`);
    const lines = { stdout: splitter((line) => onLine('stdout', line)), stderr: splitter((line) => onLine('stderr', line)) };
    const cwd = this.settings.workdir ?? user.home;
    try {
      const process = await this.runtime.spawnCommand('/bin/bash', ['-l', '-c', command], {
        env: { ...environmentOf(user), ...this.settings.env },
        user: user.name,
        cwd,
        orphans,
        onStdout: (bytes) => lines.stdout.push(bytes),
        onStderr: (bytes) => lines.stderr.push(bytes),
        ...(signal === undefined ? {} : { signal }),
        ...(timeout === undefined ? {} : { timeout }),
      });
      await process.closeStdin();
      process.wait().then(
        () => [lines.stdout.end(), lines.stderr.end()],
        () => {},
      );
      return process;
    } catch (error) {
      if (!isColdframeError(error)) throw error;
      throw failed(`command failed: ${error.message}`);
    }
  }

  /** Makes a directory the working directory. */
  async setWorkdir(path: string): Promise<void> {
    const workdir = this.resolve(path);
    const owner = userOf(this.settings.user)?.name;
    await this.runtime.mkdir(workdir, { recursive: true, ...(owner === undefined ? {} : { owner }) });
    this.settings.workdir = workdir;
  }

  /** Returns the absolute path that a step means. */
  resolve(path: string): string {
    const home = userOf(this.settings.user)?.home ?? '/';
    const given = path === '~' || path.startsWith('~/') ? home + path.slice(1) : path;
    const resolved = posix.resolve(this.settings.workdir ?? home, given);
    return resolved;
  }

  /**
   * Copies the files `source` of an archive to `target`. A file is copied to the path, or into a
   * directory. Of a directory, the content is copied. The files belong to a user, by default the
   * user of the settings.
   */
  async copy(archive: Readable, { source, target, user, mode }: CopyWish): Promise<void> {
    const name = user ?? this.settings.user;
    // Docker's form names a group too: each user has the group of the same name.
    const owner = userOf(name.split(':', 1)[0] as string)?.name;
    if (owner === undefined) throw new StepError(`failed to copy '${source}': invalid username: '${name}'`);
    const folder = await this.runtime.mkdtemp('/tmp/.build-');
    try {
      await this.runtime.importTar(archive, { path: folder, owner });
      const found = await this.#matches(folder, source.replace(/^\.?\//, '').replace(/\/$/, ''));
      if (found.length === 0) throw new StepError(`failed to copy '${source}': no such file in the archive`);
      const at = this.resolve(target);
      const isInto =
        target.endsWith('/') || target === '.' || found.length > 1 || isGlob(source) || (await this.#isDirectory(at));
      for (const path of found) {
        const isFolder = (await this.runtime.stat(path, { followSymlinks: false })).isDirectory;
        await this.#move(path, isFolder || !isInto ? at : posix.join(at, posix.basename(path)), { mode, owner });
      }
    } catch (error) {
      if (isColdframeError(error)) throw new StepError(`failed to copy '${source}': ${error.message}`, { cause: error });
      throw error;
    } finally {
      await this.runtime.remove(folder, { recursive: true });
    }
  }

  async #move(from: string, to: string, made: { mode: number | undefined; owner: User['name'] }): Promise<void> {
    const { mode, owner } = made;
    const { isDirectory, type } = await this.runtime.stat(from, { followSymlinks: false });
    if (!isDirectory) {
      await this.runtime.mkdir(posix.dirname(to), { recursive: true, owner });
      await this.runtime.rename(from, to);
    } else {
      await this.runtime.mkdir(to, { recursive: true, owner });
      for (const name of await this.runtime.readDir(from)) await this.#move(posix.join(from, name), posix.join(to, name), made);
    }
    if (mode !== undefined && type !== 'symlink') await this.runtime.chmod(to, mode);
  }

  // Returns the paths below `folder` that match a pattern of `/`, `*`, `?` and `[...]`.
  async #matches(folder: string, pattern: string): Promise<string[]> {
    let found = [folder];
    for (const part of pattern.split('/').filter((name) => name !== '' && name !== '.')) {
      if (part === '..') throw new StepError(`failed to copy '${pattern}': the path leaves the context`);
      const next: string[] = [];
      for (const parent of found) {
        const names = part === '**' ? await this.#below(parent) : await this.runtime.readDir(parent).catch(() => []);
        next.push(...names.filter((name) => part === '**' || matchesGlob(name, part)).map((name) => posix.join(parent, name)));
      }
      found = next;
    }
    return found;
  }

  async #below(folder: string): Promise<string[]> {
    const names: string[] = ['.'];
    for (const { name, isDirectory } of await this.runtime.readDirWithTypes(folder).catch(() => [])) {
      if (!isDirectory) continue;
      for (const inner of await this.#below(posix.join(folder, name))) names.push(posix.join(name, inner));
    }
    return names;
  }

  async #isDirectory(path: string): Promise<boolean> {
    return this.runtime.stat(path).then(
      ({ isDirectory }) => isDirectory,
      () => false,
    );
  }
}

function splitter(onLine: (line: string) => void) {
  const decoder = new TextDecoder();
  let rest = '';
  return {
    push(bytes: Uint8Array): void {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
      rest = lines.pop() as string;
      for (const line of lines) onLine(line);
      if (rest.length > LONGEST_LINE) {
        onLine(rest);
        rest = '';
      }
    },
    end(): void {
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
