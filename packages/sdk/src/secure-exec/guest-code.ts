// Code that is put in front of a program. It stays in the program's first line, so that line
// numbers do not change.

/** The guest's function for bindings has another name in earlier releases of secure-exec. */
const CALL_HOST_TOOL = 'callHostTool';

/** Makes `callHostTool()` available to a program that uses the name. */
export function withToolCalls(code: string): string {
  return code.includes(CALL_HOST_TOOL) ? `globalThis.${CALL_HOST_TOOL} ??= globalThis.callBinding; ${code}` : code;
}

/**
 * Makes JSON available as a global variable. The text is parsed in the guest, because a literal
 * with a key `__proto__` would set a prototype.
 */
export const globalJson = (name: string, value: unknown): string =>
  `globalThis.${name} = JSON.parse(${JSON.stringify(JSON.stringify(value))}); `;
