// A sidecar as a child process. Its fd 3 is one end of a Unix socket pair, which has no path, so
// that no other process can connect. When this process ends, the sidecar reads the end of the
// socket and ends too.
//
// Only the opening and pending requests keep Node's event loop alive. If the sidecar exits
// unexpectedly, all pending requests fail with one ERR_SIDECAR_EXITED, which has the exit status
// and the last output. The channel therefore closes when the child has been reaped. The socket
// closes slightly earlier.

import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { createChannel } from '../channel/channel.js';
import { connectChannel } from '../channel/connection.js';
import type { Grant } from '../channel/grants.js';
import type { Opened, Opening, ProcessConnection } from '../channel/sidecar-connection.js';
import { now } from '../clock.js';
import { deferred } from '../deferred.js';
import { sidecarDisposed, sidecarExited, sidecarSpawn } from '../errors/make.js';
import { requireBuiltin } from '../packages/installed.js';
import type { WallPart } from '../protocol/generated/messages.js';
import { VERSION } from '../version.js';
import { StderrTail } from './stderr-tail.js';

const CHANNEL_FD = 3;
/** Milliseconds after the close of the channel until a sidecar that still runs is killed. */
const GRACE_MS = 2_000;

/**
 * Starts the sidecar program at `path`. `copyTo` receives everything that the sidecar writes to
 * stderr. A walled sidecar has a broker, which reads grants from stdin.
 */
export function spawnSidecar(
  path: string,
  args: readonly string[],
  { copyTo, isWalled = false }: { copyTo?: Writable | undefined; isWalled?: boolean } = {},
): Opening<ProcessConnection> {
  const begin = now();
  const child = start(path, [...args, '--channel-fd', String(CHANNEL_FD)], isWalled);
  const spawnMs = now() - begin;
  const socket = child.stdio[CHANNEL_FD] as Socket;
  const tail = new StderrTail(child.stderr, copyTo);
  const opening = deferred<Opened>();
  const grants = child.stdin as Socket | null;
  let walls: readonly WallPart[] = [];
  let image = '';
  let waiting = false;
  let ending = false;

  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      // Without a pid there was no process, and `close` may never be emitted.
      if (child.pid !== undefined) return;
      channel.close(sidecarSpawn(path, error.message, error));
      resolve();
    });
  });

  // A sidecar ends when its channel closes. The signal is for a sidecar that does not end, and has
  // no effect on an ended process.
  function end(): void {
    if (ending) return;
    ending = true;
    socket.destroy();
    grants?.destroy();
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
    child.once('close', () => clearTimeout(timer));
  }

  // Node emits `close` of the child when the child has exited and its streams have closed. The
  // stream of stderr may close after the exit, and must keep the event loop alive until then.
  function waitForEnd(): Promise<void> {
    child.ref();
    tail.ref();
    return ended;
  }

  // A caller that does not wait for the opening gets a failure from its pending requests.
  opening.promise.catch(() => {});

  const channel = createChannel({
    version: VERSION,
    write: (bytes) => {
      socket.write(bytes);
    },
    onHello: (hello) => {
      walls = hello.walls;
      image = hello.image;
      opening.resolve({ spawnMs, sessionMs: now() - begin - spawnMs, moduleLoadMs: hello.loadNs / 1e6 });
      if (!waiting) socket.unref();
    },
    onBusy: () => {
      waiting = true;
      socket.ref();
    },
    onIdle: () => {
      waiting = false;
      socket.unref();
    },
    onClose: (error) => {
      opening.reject(error);
      end();
    },
  });

  child.unref();
  grants?.unref();
  // The broker ends with the sidecar, whose exit status is more precise.
  grants?.on('error', () => {});
  socket.on('data', channel.receive);
  // The exit status of the child is more precise than EPIPE or ECONNRESET; `close` follows.
  socket.on('error', () => {});
  socket.once('close', () => {
    end();
    waitForEnd().then(() => {
      const { exitCode, signalCode: signal } = child;
      channel.close(sidecarExited({ pid: child.pid ?? 0, exitCode, signal, stderr: tail.text }));
    });
  });

  const dispose = (): Promise<void> => {
    channel.close(sidecarDisposed());
    return waitForEnd();
  };
  // The bytes are in the socket when `write` returns, unless the socket is full. The broker waits
  // for the grant of a request.
  const grant: Grant = (kind, path) => grants?.write(`${kind}${path}\0`);
  const connection = connectChannel(channel, { pid: child.pid ?? 0, dispose, walls: () => walls, image: () => image, grant });
  return { connection, opened: opening.promise };
}

function start(path: string, args: string[], isWalled: boolean): ChildProcess {
  let child: ChildProcess;
  try {
    // The sidecar has no environment, because it needs none and no variable may reach a guest.
    const stdio: ('ignore' | 'pipe')[] = [isWalled ? 'pipe' : 'ignore', 'ignore', 'pipe', 'pipe'];
    child = requireBuiltin('node:child_process').spawn(path, args, { stdio, env: {} });
  } catch (error) {
    throw sidecarSpawn(path, (error as Error).message, error);
  }
  if (child.stdio?.[CHANNEL_FD]) return child;
  // If no descriptor is free, Node makes no streams and emits an error.
  child.once('error', () => {});
  throw sidecarSpawn(path, 'this process has no free file descriptor');
}
