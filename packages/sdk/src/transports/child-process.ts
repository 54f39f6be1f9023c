// A sidecar as a child process. Its fd 3 is the other end of a Unix socket pair: no path, nothing to authenticate, and when this
// process dies the sidecar reads end of file and goes too.
//
// Nothing here keeps Node's event loop alive except a request that waits. A sidecar that ends unasked fails everything that waits
// with one ERR_SIDECAR_EXITED, which knows how it ended and what it said last: so the channel is closed only when the child has been
// reaped, not when the socket closes a moment before.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { createChannel } from '../channel/channel.js';
import { connectChannel } from '../channel/connection.js';
import { deferred } from '../deferred.js';
import { sidecarDisposed, sidecarExited, sidecarSpawn } from '../errors/make.js';
import type { Opened, Opening, ProcessConnection } from '../sidecar/connection.js';
import { VERSION } from '../version.js';
import { StderrTail } from './stderr-tail.js';

const CHANNEL_FD = 3;
// How long a sidecar may take to end after its channel has closed, before it is killed.
const GRACE_MS = 2_000;

/** Starts the program at `path`. `copyTo` receives everything that the program writes to stderr. */
export function spawnSidecar(
  path: string,
  args: readonly string[],
  { copyTo }: { copyTo?: Writable | undefined } = {},
): Opening<ProcessConnection> {
  const begin = performance.now();
  const child = start(path, [...args, '--channel-fd', String(CHANNEL_FD)]);
  const spawnMs = performance.now() - begin;
  const socket = child.stdio[CHANNEL_FD] as Socket;
  const tail = new StderrTail(child.stderr, copyTo);
  const opening = deferred<Opened>();
  let waiting = false;
  let ending = false;

  const gone = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      // Without a pid there never was a process, and there may be no `close` either.
      if (child.pid !== undefined) return;
      channel.close(sidecarSpawn(path, error.message, error));
      resolve();
    });
  });

  // Closing the channel is what tells a sidecar to end; the signal is for one that does not. One that is gone cannot be hit by it.
  function end(): void {
    if (ending) return;
    ending = true;
    socket.destroy();
    const timer = setTimeout(() => child.kill('SIGKILL'), GRACE_MS).unref();
    child.once('close', () => clearTimeout(timer));
  }

  // Who does not ask for it learns of a failure by the requests that fail.
  opening.promise.catch(() => {});

  const channel = createChannel({
    version: VERSION,
    write: (bytes) => socket.write(bytes),
    onHello: (hello) => {
      opening.resolve({ spawnMs, sessionMs: performance.now() - begin - spawnMs, moduleLoadMs: hello.loadNs / 1e6 });
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
  socket.on('data', channel.receive);
  // EPIPE and ECONNRESET say less than how the child ended; `close` follows.
  socket.on('error', () => {});
  socket.once('close', () => {
    child.ref();
    end();
    gone.then(() => {
      const { exitCode, signalCode: signal } = child;
      channel.close(sidecarExited({ pid: child.pid ?? 0, exitCode, signal, stderr: tail.text }));
    });
  });

  const dispose = (): Promise<void> => {
    child.ref();
    channel.close(sidecarDisposed());
    return gone;
  };
  return { connection: connectChannel(channel, { pid: child.pid ?? 0, dispose }), opened: opening.promise };
}

function start(path: string, args: string[]): ChildProcess {
  let child: ChildProcess;
  try {
    // No environment: the sidecar needs none, and what is not there cannot reach a guest.
    child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env: {} });
  } catch (error) {
    throw sidecarSpawn(path, (error as Error).message, error);
  }
  if (child.stdio?.[CHANNEL_FD]) return child;
  // Out of descriptors: Node has not even made the streams, and tells by an event.
  child.once('error', () => {});
  throw sidecarSpawn(path, 'this process has no file descriptor left for it');
}
