/**
 * The symbol behind `await using`. Node has the symbol since 20.4. In older versions, this constant
 * is `Symbol.for('Symbol.asyncDispose')`, the symbol that the code of esbuild and Babel uses in
 * these versions.
 */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as never);
