/**
 * The symbol behind `await using`. Node has it since 20.4; where it is missing, this is the one that compilers' helpers look for
 * when they have registered theirs.
 */
export const asyncDispose: typeof Symbol.asyncDispose = Symbol.asyncDispose ?? (Symbol.for('Symbol.asyncDispose') as never);
