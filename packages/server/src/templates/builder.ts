// Builds templates. The steps run in a runtime, and the result of each step is kept as a snapshot.
// At the end, a snapshot of the runtime becomes the build. A build with a start command keeps its
// program.
//
// Builds wait for a place, so that a few builds run at a time.

import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { isColdframeError, type NodeRuntime, type Sidecar } from 'coldframe';
import type { Blobs } from '../fleet/blobs.js';
import { newTemplateId } from '../ids.js';
import type { BuildRecord, TemplateRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import { isBase } from '../sandboxes/base.js';
import type { Manifests } from '../sandboxes/manifests.js';
import { quietly } from '../sandboxes/pausing.js';
import type { Quotas } from '../sandboxes/quotas.js';
import { notMade, type Runtimes } from '../sandboxes/runtimes.js';
import { BuildBox, StepError } from './build-box.js';
import { isBaseImage } from './images.js';
import { BuildLogs } from './logs.js';
import { type Built, buildOf } from './references.js';
import { type BuildStep, changesFiles, perform, stepKey, titleOf } from './steps.js';

/** The content of a build. */
export interface BuildPlan {
  fromImage?: string | undefined;
  fromTemplate?: string | undefined;
  /** Whether no kept result is used. */
  force: boolean;
  steps: readonly BuildStep[];
  startCmd?: string | undefined;
  readyCmd?: string | undefined;
}

/** The parts of the server that builds use. */
export interface BuildParts {
  registry: Registry;
  sidecar: Sidecar;
  runtimes: Runtimes;
  blobs: Blobs;
  quotas: Quotas;
  manifests: Manifests;
}

const BUILDS_AT_A_TIME = 2;
/** Kept results of steps of a tenant. */
const KEPT_STEPS = 64;
const BASE_STEP = 'base';
const FINAL_STEP = 'finalize';
const READY_EVERY_MS = 500;
const READY_WITHIN_MS = 5 * 60_000;
/** Milliseconds that a start command without a ready command has. */
const DEFAULT_READY_MS = 2_000;
const ROOT_WORKDIR = '/home/user';

/** Builds templates. */
export class Builder {
  readonly logs = new BuildLogs();
  readonly #parts: BuildParts;
  readonly #closed = new AbortController();
  readonly #waiting: (() => Promise<void>)[] = [];
  #running = 0;

  constructor(parts: BuildParts) {
    this.#parts = parts;
  }

  /** Makes a waiting build of the template `name`, which is made if missing. */
  request(tenant: string, name: string, tags: readonly string[]): { template: TemplateRecord; build: BuildRecord } {
    const { registry, quotas } = this.#parts;
    const now = Date.now();
    const known = registry.templates.find(tenant, name);
    const template: TemplateRecord = known ?? {
      id: newTemplateId(),
      tenant,
      kind: 'template',
      name,
      sandboxId: undefined,
      createdAt: now,
      updatedAt: now,
    };
    const build: BuildRecord = {
      id: randomUUID(),
      templateId: template.id,
      state: 'waiting',
      snapshot: undefined,
      env: {},
      user: 'user',
      workdir: undefined,
      fileMetadata: {},
      failure: undefined,
      createdAt: now,
      finishedAt: undefined,
    };
    if (known === undefined) {
      quotas.checkTemplates(tenant);
      registry.templates.add(template, build, []);
    } else registry.templates.addBuild(build, []);
    this.#tags.set(build.id, tags);
    return { template, build };
  }

  /** The tags that builds get when they are ready. */
  readonly #tags = new Map<string, readonly string[]>();

  /** Starts a waiting build. Returns at once. */
  start(tenant: string, build: BuildRecord, plan: BuildPlan): void {
    this.#parts.registry.templates.changeBuild(build.id, { state: 'building' });
    this.logs.begin(build.id);
    this.#waiting.push(() => this.#run(tenant, build, plan));
    this.#next();
  }

  /** Stops all builds. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#waiting.length = 0;
    while (this.#running > 0) await sleep(10);
  }

  #next(): void {
    while (this.#running < BUILDS_AT_A_TIME) {
      const build = this.#waiting.shift();
      if (build === undefined) return;
      this.#running++;
      void build().finally(() => {
        this.#running--;
        this.#next();
      });
    }
  }

  async #run(tenant: string, build: BuildRecord, plan: BuildPlan): Promise<void> {
    const { templates } = this.#parts.registry;
    const progress = { step: BASE_STEP };
    try {
      const result = await this.#build(tenant, build.id, plan, progress);
      templates.changeBuild(build.id, { ...result, state: 'ready', finishedAt: Date.now() });
      const now = Date.now();
      for (const tag of this.#tags.get(build.id) ?? [])
        templates.setTag(build.templateId, { tag, buildId: build.id, createdAt: now });
      await this.#describe(tenant, build);
      this.logs.add(build.id, 'info', 'Build finished', FINAL_STEP);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      // The cause of other failures is a matter of the operator.
      if (!(error instanceof StepError)) process.emitWarning(error instanceof Error ? error : new Error(message));
      this.logs.add(build.id, 'error', message, progress.step);
      templates.changeBuild(build.id, { state: 'error', failure: { message, step: progress.step }, finishedAt: Date.now() });
    } finally {
      this.#tags.delete(build.id);
    }
  }

  async #describe(tenant: string, { id, templateId }: BuildRecord): Promise<void> {
    const { registry, manifests } = this.#parts;
    const template = registry.templates.find(tenant, templateId);
    const build = registry.templates.build(id);
    if (template === undefined || build === undefined) return;
    await manifests.keepBuild(template, build, this.#tags.get(id) ?? []);
  }

  async #build(tenant: string, buildId: string, plan: BuildPlan, progress: { step: string }): Promise<Partial<BuildRecord>> {
    const line = (message: string, level: 'info' | 'warn' = 'info'): void =>
      this.logs.add(buildId, level, message, progress.step);
    const from = this.#source(tenant, plan);
    line(`FROM ${plan.fromTemplate ?? plan.fromImage ?? 'base'}`);
    const steps = plan.steps.map((step) => ({ ...step, force: step.force || plan.force }));
    const keys = keysOf(from, steps);
    let kept = this.#kept(tenant, steps, keys);
    let runtime = kept && (await this.#open(tenant, kept.snapshot).catch(() => undefined));
    if (runtime === undefined) {
      // The kept snapshot was deleted, or is of another version.
      kept = undefined;
      runtime = await this.#open(tenant, from?.snapshot, from?.isImported);
    }
    const box = new BuildBox(runtime, {
      env: { ...from?.env },
      user: from?.user ?? 'user',
      workdir: from?.workdir,
    });
    try {
      for (const [at, step] of steps.entries()) {
        progress.step = String(at + 1);
        const isKept = at < (kept?.count ?? 0);
        line(`[${at + 1}/${steps.length}] ${isKept ? 'CACHED ' : ''}${titleOf(step)}`);
        const onLine = (stream: 'stdout' | 'stderr', text: string): void => line(text, stream === 'stdout' ? 'info' : 'warn');
        await perform(box, step, { onLine, signal: this.#closed.signal, archive: (hash) => this.#archive(tenant, hash) }, isKept);
        if (!isKept && changesFiles(step)) await this.#keep(tenant, keys[at] as string, box.runtime);
      }
      progress.step = FINAL_STEP;
      await this.#finish(box, plan, line);
      const taken = await quietly(buildId, () => box.runtime.snapshot({ store: 'disk', labels: { build: buildId } }));
      return { ...box.settings, snapshot: taken.id, fileMetadata: from?.fileMetadata ?? {} };
    } finally {
      await box.runtime.dispose();
    }
  }

  // Returns the build that another build starts from, or `undefined` for `base`.
  #source(tenant: string, { fromImage, fromTemplate }: BuildPlan): Built | undefined {
    if (fromTemplate !== undefined && fromTemplate !== '') {
      if (isBase(fromTemplate)) return undefined;
      try {
        return buildOf(this.#parts.registry, tenant, fromTemplate).build;
      } catch (error) {
        throw new StepError((error as Error).message, { cause: error });
      }
    }
    if (fromImage === undefined || fromImage === '' || isBaseImage(fromImage)) return undefined;
    const available = 'Images of Debian, Ubuntu and Node stand for the template base, and no image is downloaded';
    throw new StepError(`The image ${fromImage} is not available. ${available}.`);
  }

  // Returns the longest kept beginning of the steps.
  #kept(tenant: string, steps: readonly BuildStep[], keys: readonly string[]): { count: number; snapshot: string } | undefined {
    let kept: { count: number; snapshot: string } | undefined;
    for (const [at, step] of steps.entries()) {
      if (step.force) break;
      if (!changesFiles(step)) {
        if (kept !== undefined) kept.count = at + 1;
        continue;
      }
      const found = this.#parts.registry.templates.step(tenant, keys[at] as string, Date.now());
      if (found === undefined) break;
      kept = { count: at + 1, snapshot: found.snapshot };
    }
    return kept;
  }

  async #open(tenant: string, snapshot: string | undefined, isImported = false): Promise<NodeRuntime> {
    const { runtimes } = this.#parts;
    const wish = { tenant, network: {}, volumeMounts: [] };
    try {
      return await (snapshot === undefined ? runtimes.fromBase(wish) : runtimes.fromSnapshot(wish, snapshot, isImported));
    } catch (error) {
      throw new StepError(notMade(error).message, { cause: error });
    }
  }

  #archive(tenant: string, filesHash: string): Readable {
    const { registry, blobs } = this.#parts;
    const upload = registry.templates.upload(tenant, filesHash);
    if (upload === undefined) throw new StepError(`The files ${filesHash} were not uploaded`);
    return blobs.get(upload.digest);
  }

  // A program that never rests has no snapshot, and its step is repeated by the next build.
  async #keep(tenant: string, key: string, runtime: NodeRuntime): Promise<void> {
    const { registry, sidecar } = this.#parts;
    try {
      const { id } = await runtime.snapshot({ store: 'disk', labels: { step: key } });
      registry.templates.setStep({ tenant, key, snapshot: id, usedAt: Date.now() });
    } catch (error) {
      if (!isColdframeError(error, 'ERR_NOT_QUIET')) throw error;
    }
    for (const { snapshot } of registry.templates.dropSteps(tenant, KEPT_STEPS)) {
      await sidecar.snapshots.delete(snapshot, { tenant }).catch(() => {});
    }
  }

  async #finish(box: BuildBox, { startCmd, readyCmd }: BuildPlan, line: (message: string) => void): Promise<void> {
    const onLine = (_: string, text: string): void => line(text);
    const failed = (command: string) => (reason: string) => new StepError(`failed to run command '${command}': ${reason}`);
    if (startCmd !== undefined && startCmd !== '') {
      line(`Starting: ${startCmd}`);
      await box.start(startCmd, { onLine, orphans: 'keep' }, failed(startCmd));
    }
    if (readyCmd === undefined || readyCmd === '') {
      if (startCmd !== undefined && startCmd !== '') await sleep(DEFAULT_READY_MS);
      return;
    }
    line(`Waiting until ready: ${readyCmd}`);
    const until = performance.now() + READY_WITHIN_MS;
    while (!this.#closed.signal.aborted) {
      const bounds = { signal: this.#closed.signal, timeout: READY_WITHIN_MS };
      const check = await box.start(readyCmd, { onLine: () => {}, ...bounds }, failed(readyCmd));
      if ((await check.wait()) === 0) return;
      if (performance.now() > until)
        throw new StepError(`the ready command '${readyCmd}' did not succeed within ${READY_WITHIN_MS / 1_000} s`);
      await sleep(READY_EVERY_MS);
    }
    throw new StepError('the build was cancelled');
  }
}

function keysOf(from: Built | undefined, steps: readonly BuildStep[]): string[] {
  let key = createHash('sha256')
    .update(`${from?.id ?? BASE_STEP}:${ROOT_WORKDIR}`)
    .digest('hex');
  return steps.map((step) => (key = stepKey(key, step)));
}
