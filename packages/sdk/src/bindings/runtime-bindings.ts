// Implements the calls that change the bindings of one runtime. `binding.ts` and its validator are
// imported at the first registration, because most runtimes have no bindings.

import { BINDING_NAMES, type Bindings } from '../options/bindings.js';
import { checkArgument, checkGivenOptions } from '../options/check.js';
import type { RuntimeAccess } from '../sidecar/runtime-access.js';
import type { Binding } from './binding.js';
import { BindingRegistry } from './binding-registry.js';

/** The calls of `NodeRuntime` for bindings. */
export class RuntimeBindings {
  readonly #access: RuntimeAccess;
  #registry: BindingRegistry | undefined;

  /**
   * `registry`: the registry that was made with the runtime. `undefined` means that the first
   * registration makes a registry.
   */
  constructor(access: RuntimeAccess, registry: BindingRegistry | undefined) {
    this.#access = access;
    this.#registry = registry;
  }

  /** All present bindings, or `undefined` if the runtime has no registry yet. */
  get all(): readonly Binding[] | undefined {
    return this.#registry?.all;
  }

  async register(bindings: Bindings): Promise<void> {
    checkGivenOptions('registerBindings()', { bindings: bindings ?? null });
    const { bindingsOf } = await import('./binding.js');
    const ready = await bindingsOf('registerBindings()', bindings);
    this.#access.assertUsable();
    this.#registry ??= new BindingRegistry(this.#access.connection, this.#access.runtime);
    const registry = this.#registry;
    await this.#access.whileInUse(() => registry.add(ready));
  }

  async unregister(names: readonly string[]): Promise<void> {
    checkArgument('unregisterBindings()', 'names', BINDING_NAMES, names);
    this.#access.assertUsable();
    await this.#access.whileInUse(() => this.#registry?.remove(names));
  }
}
