// The lanes of Coldframe's modes. A lane has a runtime, and in the resident mode a resident runner.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createMemoryFileSystem, NodeRuntime, type NodeRuntimeOptions, type ResidentRunner, type Sidecar } from 'coldframe';
import { linesOf, nextLine } from '../sandbox/lines.js';
import type { ExecResult } from '../sandbox/snippet.js';
import { ANSWER, answer, type Lane, type LiveProgram, NEIGHBOUR, type Neighbour, type Place, type Side } from './lane.js';

export interface RuntimeSideOptions {
  /** The sidecar of all lanes. Without a sidecar, every runtime has a sidecar of its own. */
  sidecar?: Sidecar;
  /** Whether code runs in a resident runner if the runner has the call. */
  isResident?: boolean;
  /** The parent of the mounted folders. */
  scratch: string;
}

const FOLDERS: Readonly<Record<Place, string>> = { memory: '/workspace', mount: '/mount', app: '/app' };

const bindings = {
  [ANSWER]: { description: 'the sum', inputSchema: true, handler: answer },
} satisfies NonNullable<NodeRuntimeOptions['bindings']>;

export function runtimeSide({ sidecar, isResident = false, scratch }: RuntimeSideOptions): Side {
  const create = (options: NodeRuntimeOptions = {}) => NodeRuntime.create({ ...(sidecar && { sidecar }), ...options });
  return {
    openLane: async (places) => {
      const hostPath = mkdtempSync(join(scratch, 'mount-'));
      const mounts = [
        ...(places.includes('mount') ? [{ guestPath: FOLDERS.mount, hostPath, readOnly: false }] : []),
        ...(places.includes('app') ? [{ guestPath: FOLDERS.app, fileSystem: createMemoryFileSystem() }] : []),
      ];
      const runtime = await create({ mounts, bindings });
      const runner = isResident ? await runtime.createResidentRunner() : undefined;
      const removeFolder = () => rmSync(hostPath, { recursive: true, force: true });
      return laneOf(runtime, runner, async () => (await create()).dispose(), removeFolder);
    },
    startNeighbour: () => startNeighbour(create),
    close: async () => sidecar?.dispose(),
  };
}

function laneOf(
  runtime: NodeRuntime,
  runner: ResidentRunner | undefined,
  createAndDispose: () => Promise<void>,
  removeFolder: () => void,
): Lane {
  const exec = (code: string): Promise<ExecResult> => (runner ? runner.exec(code) : runtime.exec(code));
  return {
    exec,
    run: async (code) => (await runtime.run(code)).value,
    execFile: (path, args) => runtime.execFile(path, { args }),
    command: (name, args) => runtime.execCommand(name, args),
    spawn: (code) => spawnIn(runtime, code),
    perform: async (body) => {
      const result = await exec(`console.log(JSON.stringify(await (async () => {${body}})()));`);
      if (result.exitCode !== 0) throw new Error(`exit code ${result.exitCode}: ${stderrOf(result)}`);
      return JSON.parse(result.stdout);
    },
    fetch: async (port, path) => (await runtime.fetch(port, path)).body,
    connect: (port) => runtime.connect({ port }),
    writeFile: (path, data) => runtime.writeFile(path, data),
    readFile: (path) => runtime.readFile(path),
    size: async (path) => (await runtime.stat(path)).size,
    names: (path) => runtime.readDir(path),
    createAndDispose,
    folder: (place) => FOLDERS[place],
    close: async () => {
      await runtime.dispose();
      removeFolder();
    },
  };
}

const stderrOf = (result: ExecResult & { stderr?: string }): string => (result.stderr ?? '').slice(0, 300);

async function spawnIn(runtime: NodeRuntime, code: string): Promise<LiveProgram> {
  const program = await runtime.spawn(code);
  // The output of a program that no caller reads is only in the result.
  let lines: AsyncGenerator<string> | undefined;
  const line = () => {
    lines ??= linesOf(program.stdout);
    return nextLine(lines);
  };
  return {
    get result() {
      return program.result;
    },
    line,
    request: async (text) => {
      await program.writeStdin(`${text}\n`);
      return line();
    },
    stop: async () => {
      await program.kill('SIGKILL');
      await program.wait();
    },
  };
}

async function startNeighbour(create: (options?: NodeRuntimeOptions) => Promise<NodeRuntime>): Promise<Neighbour> {
  const runtime = await create();
  const program = await spawnIn(runtime, NEIGHBOUR);
  await program.line();
  return {
    stop: async () => {
      await program.stop();
      await runtime.dispose();
    },
  };
}
