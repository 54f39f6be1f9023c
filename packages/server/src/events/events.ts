// The events of sandboxes: recorded in the registry, written to the audit log, and sent to the
// tenant's webhooks.

import { randomUUID } from 'node:crypto';
import type { EventRecord, SandboxRecord } from '../registry/records.js';
import type { Registry } from '../registry/registry.js';
import type { Telemetry } from '../telemetry/telemetry.js';
import type { Audit } from './audit.js';
import type { Webhooks } from './webhooks.js';

/** The types of events. */
export const EVENT_TYPES = ['created', 'killed', 'updated', 'paused', 'resumed', 'checkpointed', 'rolled_back'].map(
  (name) => `sandbox.lifecycle.${name}`,
);

/** The last part of a type. */
export type EventName = 'created' | 'killed' | 'updated' | 'paused' | 'resumed' | 'checkpointed' | 'rolled_back';

/** The destinations of events. */
export interface EventSinks {
  registry: Pick<Registry, 'events' | 'epoch'>;
  audit: Audit;
  webhooks: Webhooks;
  telemetry: Pick<Telemetry, 'events'>;
}

/** Records events. */
export class Events {
  readonly #sinks: EventSinks;

  constructor(sinks: EventSinks) {
    this.#sinks = sinks;
  }

  /** Records an event of a sandbox. */
  record(
    name: EventName,
    sandbox: Pick<SandboxRecord, 'id' | 'tenant' | 'templateId' | 'buildId'>,
    data: Record<string, unknown> = {},
  ): void {
    const { registry, audit, webhooks, telemetry } = this.#sinks;
    const event: Omit<EventRecord, 'sequence'> = {
      id: randomUUID(),
      tenant: sandbox.tenant,
      type: `sandbox.lifecycle.${name}`,
      sandboxId: sandbox.id,
      templateId: sandbox.templateId,
      buildId: sandbox.buildId,
      epoch: registry.epoch,
      at: Date.now(),
      data,
    };
    telemetry.events.add({ type: name });
    const sequence = registry.events.append(event);
    const wire = wireEvent({ ...event, sequence });
    audit.write({ kind: 'event', tenant: event.tenant, ...wire });
    webhooks.send(event.tenant, event.type, wire);
  }
}

/** The version of the shape of events. */
const VERSION = 'v2';

/** Returns an event in the clients' shape. */
export const wireEvent = ({ sequence, id, tenant, type, sandboxId, templateId, buildId, epoch, at, data }: EventRecord) => ({
  version: VERSION,
  id,
  type,
  eventData: data,
  sandboxId,
  sandboxTemplateId: templateId,
  // Each start of the server is another execution of the sandbox.
  sandboxExecutionId: `${sandboxId}-${epoch}`,
  sandboxBuildId: buildId ?? templateId,
  sandboxTeamId: tenant,
  timestamp: new Date(at).toISOString(),
  sequence,
});
