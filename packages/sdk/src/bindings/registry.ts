// The bindings of one runtime: which there are now, and the sidecar's knowledge of them.
//
// Changes come one after the other. A call that is under way keeps the binding that it began with. Next: `service.ts`.

import type { WireBinding } from '../channel/messages.js';
import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { HostRequest } from '../host-calls/dispatcher.js';
import type { Binding } from './binding.js';
import { BindingFailure } from './failure.js';
import { encodeFailure } from './json.js';
import { answer } from './service.js';

type Set = ReadonlyMap<string, Binding>;

/** See above. */
export class BindingRegistry {
  readonly #connection: SidecarConnection;
  readonly #runtime: number;
  #bindings: Set = new Map();
  #last: Promise<void> = Promise.resolve();

  /** `known`: what the sidecar knows already; calls of it are answered from now on. */
  constructor(connection: SidecarConnection, runtime: number, known: readonly Binding[] = []) {
    this.#connection = connection;
    this.#runtime = runtime;
    this.#bindings = new Map(known.map((one) => [one.name, one]));
    connection.serve(runtime, 'binding', this.#call);
    connection.serve(runtime, 'binding.describe', this.#describe);
  }

  /** Those that there are now. */
  get all(): readonly Binding[] {
    return [...this.#bindings.values()];
  }

  /** Adds bindings; one takes the place of another of its name. All or none. */
  add(bindings: readonly Binding[]): Promise<void> {
    return this.#change((before) => new Map([...before, ...bindings.map((one) => [one.name, one] as const)]));
  }

  /** Takes bindings away; those that are not there need not be. */
  remove(names: readonly string[]): Promise<void> {
    return this.#change((before) => new Map([...before].filter(([name]) => !names.includes(name))));
  }

  #change(make: (before: Set) => Set): Promise<void> {
    const changed = this.#last.then(async () => {
      const before = this.#bindings;
      // Before the sidecar lets the first call through.
      this.#bindings = make(before);
      try {
        await this.#connection.setBindings({ runtime: this.#runtime, bindings: wireBindings(this.all) });
      } catch (error) {
        this.#bindings = before;
        throw error;
      }
    });
    this.#last = changed.catch(() => {});
    return changed;
  }

  readonly #call = (request: HostRequest): Uint8Array | Promise<Uint8Array> => {
    const binding = this.#bindings.get(request.name);
    return binding === undefined ? missing(request.name) : answer(binding, request);
  };

  readonly #describe = ({ name }: HostRequest): Uint8Array => {
    const binding = this.#bindings.get(name);
    return binding === undefined ? missing(name) : Buffer.from(`=${binding.description}`);
  };
}

/** Bindings as the sidecar takes them. */
export const wireBindings = (bindings: readonly Binding[]): WireBinding[] =>
  bindings.map(({ name, commands, maxInputBytes }) => ({ name, commands, inputBytes: maxInputBytes }));

// It has been taken away while the call was on its way.
const missing = (name: string): Uint8Array =>
  encodeFailure(new BindingFailure('ERR_BINDING_NOT_FOUND', `There is no binding with the name '${name}'`).fields);
