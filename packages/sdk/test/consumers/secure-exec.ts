// Uses `coldframe/secure-exec` as an app with `strict`, `exactOptionalPropertyTypes` and
// `skipLibCheck: false` does. Each option that may be omitted must also accept `undefined`.

import type {
  ExecuteFileOptions,
  ExecuteOptions,
  NodeRuntimeCreateOptions,
  NodeRuntimeExecOptions,
  NodeRuntimeFetchInput,
  NodeRuntimeListenerQuery,
  NodeRuntimeRunResult,
  NodeRuntimeWaitForListenerOptions,
  VmOptions,
} from 'coldframe/secure-exec';

/** The names of the properties that may be omitted. */
type OptionalName<T> = { [Name in keyof T]-?: object extends Pick<T, Name> ? Name : never }[keyof T];

/** The names of the optional properties that refuse `undefined`. */
type Refusing<T> = {
  [Name in OptionalName<T>]: { [N in Name]: undefined } extends Pick<T, Name> ? never : Name;
}[OptionalName<T>];

/** Compiles only if `T` is `never`. */
function expectNever<T extends never>(): T | undefined {
  return undefined;
}

expectNever<Refusing<NodeRuntimeCreateOptions>>();
expectNever<Refusing<NodeRuntimeExecOptions>>();
expectNever<Refusing<NodeRuntimeFetchInput>>();
expectNever<Refusing<NodeRuntimeListenerQuery>>();
expectNever<Refusing<NodeRuntimeWaitForListenerOptions>>();
expectNever<Refusing<VmOptions>>();
expectNever<Refusing<ExecuteOptions>>();
expectNever<Refusing<ExecuteFileOptions>>();

// A result omits a missing field, so the check finds the fields of results.
// @ts-expect-error `value` refuses `undefined`
expectNever<Refusing<NodeRuntimeRunResult>>();
