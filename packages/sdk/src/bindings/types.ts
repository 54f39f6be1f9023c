// What a caller writes to give its guests functions of its own.

/** A JSON Schema (draft 2020-12, or what its `$schema` says). */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

/** A schema of a library that follows Standard Schema, such as zod 4. The handler gets what it makes of the input. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>;
  };
}

/** What a Standard Schema says of a value. */
export type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** One thing that is wrong. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a handler is told besides its input. */
export interface BindingContext {
  /** Aborted when the guest does not wait any more: its process has ended, it has given up, the time is over, the runtime is disposed. */
  readonly signal: AbortSignal;
  /** The process that calls, by its number in its runtime. */
  readonly pid: number;
}

/** An input that shows how a binding is used; `--help` of its command prints it. */
export interface BindingExample {
  readonly description?: string;
  readonly input: unknown;
}

/** A function of this process that guests can call: `await callBinding(name, input)`, or the command of that name. */
export interface BindingDefinition {
  /** What it does, for people and models: `--help` prints it. */
  readonly description: string;
  /** What its input must be. Checked here, before the handler runs. */
  readonly inputSchema: JsonSchema | StandardSchema;
  /**
   * Gives the result, as JSON; `undefined` is `null`. What it throws rejects in the guest, with its name, message and code.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what it is, is what the schema says
  handler(input: any, context: BindingContext): unknown;
  /** How long a call may take, in milliseconds, waiting for its turn included. @default 30_000; at most 300_000 */
  readonly timeoutMs?: number;
  /** How many calls run at a time; more wait for their turn. @default 64 */
  readonly maxConcurrency?: number;
  /** The largest input, as bytes of JSON. @default 1_048_576; at most 16_777_216 */
  readonly maxInputBytes?: number;
  /** The largest result, as bytes of JSON. @default 1_048_576; at most 16_777_216 */
  readonly maxOutputBytes?: number;
  /** Inputs that show how it is used. */
  readonly examples?: readonly BindingExample[];
  /** Whether there is a command of its name; `false` for one whose name the sandbox has a command for, such as `echo`. @default true */
  readonly command?: boolean;
  /** Further names for its command. */
  readonly commandAliases?: readonly string[];
}

/** Bindings by name: a letter, then letters, digits, `_`, `.` or `-`, 64 at most. */
export type Bindings = Readonly<Record<string, BindingDefinition>>;
