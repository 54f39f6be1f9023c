// Keeps the bindings of one runtime, and sends their names, commands and input bounds to the
// sidecar. A change starts after the previous change has ended. A call uses the binding that was
// registered when the call started.
// Next: `service.ts`.

import type { SidecarConnection } from '../channel/sidecar-connection.js';
import type { HostRequest } from '../host-calls/dispatcher.js';
import type { Binding as BindingMessage, RuntimeId } from '../protocol/generated/messages.js';
import type { Binding } from './binding.js';
import { BindingFailure } from './failure.js';
import { encodeFailure } from './json.js';
import { callBinding } from './service.js';

type BindingMap = ReadonlyMap<string, Binding>;

/** The bindings of one runtime. */
export class BindingRegistry {
  readonly #connection: SidecarConnection;
  readonly #runtime: RuntimeId;
  #bindings: BindingMap = new Map();
  #lastChange: Promise<void> = Promise.resolve();

  /**
   * `initial`: bindings that the sidecar has already. The constructor registers the services that
   * handle calls and requests for descriptions.
   */
  constructor(connection: SidecarConnection, runtime: RuntimeId, initial: readonly Binding[] = []) {
    this.#connection = connection;
    this.#runtime = runtime;
    this.#bindings = new Map(initial.map((binding) => [binding.name, binding]));
    connection.serve(runtime, 'binding', this.#call);
    connection.serve(runtime, 'binding.describe', this.#describe);
  }

  /** All present bindings. */
  get all(): readonly Binding[] {
    return [...this.#bindings.values()];
  }

  /**
   * Adds bindings. A binding replaces the present binding of that name. If the request fails, adds
   * no binding.
   */
  add(bindings: readonly Binding[]): Promise<void> {
    return this.#change((before) => new Map([...before, ...bindings.map((binding) => [binding.name, binding] as const)]));
  }

  /** Removes bindings. Ignores unknown names. */
  remove(names: readonly string[]): Promise<void> {
    return this.#change((before) => new Map([...before].filter(([name]) => !names.includes(name))));
  }

  #change(make: (before: BindingMap) => BindingMap): Promise<void> {
    const changed = this.#lastChange.then(async () => {
      const before = this.#bindings;
      // The bindings are set before the request, because a guest can call a new binding before the
      // reply arrives.
      this.#bindings = make(before);
      try {
        await this.#connection.request('bindings.set', { runtime: this.#runtime, bindings: wireBindings(this.all) });
      } catch (error) {
        this.#bindings = before;
        throw error;
      }
    });
    this.#lastChange = changed.catch(() => {});
    return changed;
  }

  readonly #call = (request: HostRequest): Uint8Array | Promise<Uint8Array> => {
    const binding = this.#bindings.get(request.name);
    return binding === undefined ? missing(request.name) : callBinding(binding, request);
  };

  readonly #describe = ({ name }: HostRequest): Uint8Array => {
    const binding = this.#bindings.get(name);
    return binding === undefined ? missing(name) : Buffer.from(`=${binding.description}`);
  };
}

/**
 * Converts bindings to the list that a message contains. Handlers and schemas stay in this process.
 */
export const wireBindings = (bindings: readonly Binding[]): BindingMessage[] =>
  bindings.map(({ name, commands, maxInputBytes }) => ({ name, commands, inputBytes: maxInputBytes }));

// Returns the failure of a call whose binding was removed while the call was being sent.
const missing = (name: string): Uint8Array =>
  encodeFailure(new BindingFailure('ERR_BINDING_NOT_FOUND', `There is no binding with the name '${name}'`).fields);
