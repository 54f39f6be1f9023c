// Makes `FinalizationRegistry` hold the tokens of `unregister` weakly, as the language requires.
// The engine holds the tokens strongly. An object that is its own token, like Node's signals of
// `AbortSignal.timeout`, would then never be freed. The engine therefore receives a stand-in
// object, and a WeakMap maps the token to the stand-in. Next: globals.js, which calls this function
// before Node's library reads the methods.
'use strict';

module.exports = function holdTokensWeakly() {
  const { prototype } = FinalizationRegistry;
  const { register, unregister } = prototype;
  const standIns = new WeakMap();
  // Returns the stand-in of a token. Returns an invalid token unchanged, because the engine refuses
  // it.
  const standInOf = (token) => {
    if (!canBeHeld(token)) return token;
    let standIn = standIns.get(token);
    if (standIn === undefined) {
      standIn = {};
      standIns.set(token, standIn);
    }
    return standIn;
  };
  const methods = {
    register(target, held, token) {
      return Reflect.apply(register, this, [target, held, standInOf(token)]);
    },
    unregister(token) {
      return Reflect.apply(unregister, this, [canBeHeld(token) ? (standIns.get(token) ?? token) : token]);
    },
  };
  Object.defineProperty(methods.register, 'length', { value: 2, configurable: true });
  for (const name of Object.keys(methods)) Object.defineProperty(prototype, name, { value: methods[name] });
};

const canBeHeld = (value) =>
  (typeof value === 'object' && value !== null) ||
  typeof value === 'function' ||
  (typeof value === 'symbol' && Symbol.keyFor(value) === undefined);
