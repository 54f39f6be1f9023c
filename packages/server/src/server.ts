// Assembles the server: the registry, the sidecar, the sandboxes, the planes, and the listener.

import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Sidecar } from 'coldframe';
import { Keys } from './access/keys.js';
import { openTokens } from './access/tokens.js';
import { createControl } from './control/app.js';
import { createAgent } from './envd/agent.js';
import { NO_AUDIT, openAudit } from './events/audit.js';
import { destinations } from './events/destination.js';
import { Events } from './events/events.js';
import { Webhooks } from './events/webhooks.js';
import { openBlobs } from './fleet/blobs.js';
import { singleServer } from './fleet/coordinator.js';
import { createFront } from './front/front.js';
import { createPorts } from './front/ports.js';
import { AGENT_PORT } from './front/target.js';
import { createInterpreter, INTERPRETER_PORT } from './interpreter/app.js';
import { ServerOptions } from './options.js';
import { openRegistry } from './registry/sqlite.js';
import { Admission } from './sandboxes/admission.js';
import { limitsOf, sizeOf } from './sandboxes/base.js';
import { removeOrphans } from './sandboxes/cleanup.js';
import { Manifests, readManifests } from './sandboxes/manifests.js';
import { sampleInTurns } from './sandboxes/metrics.js';
import { Quotas } from './sandboxes/quotas.js';
import { earlierServer, recover } from './sandboxes/recovery.js';
import { Runtimes } from './sandboxes/runtimes.js';
import { Sandboxes } from './sandboxes/sandboxes.js';
import { SnapshotFiles } from './sandboxes/snapshot-files.js';
import { openSecretKey, Secrets } from './secrets/secrets.js';
import { createLog } from './telemetry/log.js';
import { Telemetry } from './telemetry/telemetry.js';
import { Builder } from './templates/builder.js';
import { createTerminals } from './terminal/terminals.js';
import { Volumes } from './volumes/volumes.js';

/** A server that accepts requests after `listen()`. */
export interface Server {
  /** Listens at a port of `host`. Port 0 is a free port. Returns the address. */
  listen(port: number, host?: string): Promise<AddressInfo>;
  /**
   * Refuses new sandboxes, pauses running sandboxes whose clients want a pause, and waits at most
   * `timeoutMs` milliseconds for open requests. Then closes the server.
   */
  drain(timeoutMs?: number): Promise<void>;
  /** Ends all connections and running sandboxes. Paused sandboxes stay on disk. */
  close(): Promise<void>;
}

const DRAIN_MS = 30_000;
const IDLE_CHECK_MS = 10_000;
const UPLOAD_KEY_BYTES = 32;

/**
 * Creates a server with its registry and its sidecar.
 *
 * @throws if an option is wrong, or if the registry cannot be opened
 */
export async function createServer(given: ServerOptions): Promise<Server> {
  const options = ServerOptions.parse(given);
  const { directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const log = createLog(options.log, (line) => process.stderr.write(line));
  const report = (error: Error): void => log.error('server', { error: String(error.stack), cause: String(error.cause ?? '') });
  const manifestFolder = join(directory, 'manifests');
  const kept = await readManifests(manifestFolder, report);
  const registry = openRegistry(join(directory, 'registry.db'), Date.now(), earlierServer(kept));
  const tokens = await openTokens(join(directory, 'tokens.key'));
  const blobs = await openBlobs(join(directory, 'blobs'));
  const secrets = new Secrets(registry.secrets, await openSecretKey(join(directory, 'secrets.key')));
  const volumes = new Volumes(registry.volumes, join(directory, 'volumes'), options.volume);
  await volumes.start();
  const { snapshotBytes: maxBytes } = options;
  const sidecar = await Sidecar.spawn({
    snapshots: { directory: join(directory, 'snapshots'), ...(maxBytes === undefined ? {} : { maxBytes }) },
  });
  const recovered = await recover(kept, { registry, sidecar, tokens, folder: manifestFolder, report });
  if (recovered > 0) log.error('server', { recovered, reason: 'The registry lacked these sandboxes, snapshots and templates' });
  await removeOrphans({ registry, sidecar, blobs });
  const audit = options.audit ? openAudit(join(directory, 'audit.jsonl'), report) : NO_AUDIT;
  const telemetry = new Telemetry();
  const webhooks = new Webhooks(registry.webhooks, destinations(options.allowPrivateWebhooks), options.webhooks);
  const events = new Events({ registry, audit, webhooks, telemetry });
  const coordinator = singleServer(registry.home, registry.epoch);
  const quotas = new Quotas(registry, options.quotas);
  const limits = limitsOf(options.sandbox);
  const runtimes = new Runtimes({ sidecar, secrets, volumes, limits, internetAccess: options.internetAccess });
  const manifests = new Manifests({ folder: manifestFolder, sidecar, tokens, limits, epoch: registry.epoch, report });
  const admission = new Admission(options.capacity);
  const sandboxes = new Sandboxes({ registry, runtimes, quotas, events, coordinator, tokens, manifests, admission });
  const builder = new Builder({ registry, sidecar, runtimes, blobs, quotas, manifests });
  const transfers = join(directory, 'transfers');
  // A crash can leave files that were being sent or received.
  await rm(transfers, { recursive: true, force: true });
  const bounds = { folder: transfers, maxBytes: options.importBytes };
  const snapshotFiles = new SnapshotFiles({ registry, quotas, manifests, admission, sidecar, ...bounds });
  const keys = new Keys(options.apiKeys, registry);
  const stated = { ...sizeOf(limits), domain: options.domain };
  const uploadKey = randomBytes(UPLOAD_KEY_BYTES);
  const { allowPrivateWebhooks } = options;
  const [control, agent, interpreter] = await Promise.all([
    createControl({
      ...{
        sandboxes,
        registry,
        builder,
        blobs,
        volumes,
        secrets,
        quotas,
        webhooks,
        keys,
        audit,
        log,
        telemetry,
        events,
        sidecar,
        manifests,
        admission,
        snapshotFiles,
      },
      ...{ stated, uploadKey, allowPrivateWebhooks },
    }),
    createAgent(stated),
    createInterpreter(),
  ]);
  const services = new Map<number, RequestListener>([
    [AGENT_PORT, (request, response) => agent.routing(request, response)],
    [INTERPRETER_PORT, (request, response) => interpreter.routing(request, response)],
  ]);
  const front = createFront({
    sandboxes,
    coordinator,
    tokens,
    control: (request, response) => control.routing(request, response),
    services,
    ports: createPorts(sandboxes),
    onRequest: (kind) => telemetry.proxied.add({ kind }),
  });
  // Streams are open for as long as their programs run.
  const times = { requestTimeout: 0, headersTimeout: 60_000, keepAliveTimeout: 620_000 };
  const { tls } = options;
  const server =
    tls === undefined ? createHttpServer(times, front.request) : createHttpsServer({ ...times, ...tls }, front.request);
  const terminals = createTerminals({ sandboxes, keys });
  server.on('upgrade', (request, socket, head) => {
    if (!terminals(request, socket, head)) front.upgrade(request, socket, head);
  });
  const stop = new AbortController();
  const { idlePauseMs } = options;
  const idle = idlePauseMs && setInterval(() => void sandboxes.pauseIdle(idlePauseMs), Math.min(idlePauseMs, IDLE_CHECK_MS));
  void sampleInTurns(() => sandboxes.held, stop.signal);

  const close = async (): Promise<void> => {
    admission.drain();
    stop.abort();
    if (idle) clearInterval(idle);
    server.close();
    await builder.close();
    await sandboxes.close();
    server.closeAllConnections();
    await runtimes.close();
    webhooks.close();
    await Promise.all([control.close(), agent.close(), interpreter.close(), sidecar.dispose()]);
    volumes.close();
    registry.close();
    audit.close();
  };
  return {
    listen: (port, host = '127.0.0.1') =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => resolve(server.address() as AddressInfo));
      }),
    drain: async (timeoutMs = DRAIN_MS) => {
      admission.drain();
      await sandboxes.pauseAll();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      const timer = new Promise((resolve) => setTimeout(resolve, timeoutMs));
      await Promise.race([closed, timer]);
      await close();
    },
    close,
  };
}
