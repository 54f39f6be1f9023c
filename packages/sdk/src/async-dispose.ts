/**
 * The symbol behind `await using`. Node has the symbol since 20.4. For older versions, this is the
 * symbol that the helpers of compilers use.
 */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as never);
