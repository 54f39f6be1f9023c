/** This package's version: the one that the sidecar must have too. `version.test.ts` compares it with `package.json`. */
export const VERSION = '0.1.0';
