// What: `FinalizationRegistry` that holds the tokens of `unregister` weakly, as the language says. The engine's holds them, so that an object that is
// its own token, as Node's signals of `AbortSignal.timeout` are, would live for ever.
// How: the engine is given a stand-in, which the token has in a WeakMap.
// Next: globals.js, which installs it before Node's library takes the functions.
'use strict';

module.exports = function holdTokensWeakly() {
  const { prototype } = FinalizationRegistry;
  const { register, unregister } = prototype;
  const standIns = new WeakMap();
  // What cannot be a token is the engine's to refuse.
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
