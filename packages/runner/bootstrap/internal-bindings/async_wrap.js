// The stack of asynchronous ids (async_wrap.cc, env.cc AsyncHooks). Node's JavaScript keeps the top
// in typed arrays. Node's JavaScript calls this file if the typed array is full, and to clear the
// stack. In Node, C++ shares the arrays and pushes ids for its own callbacks. In the guest,
// ../event-loop/async-wrap.js pushes these ids.
'use strict';

const { connect } = require('../event-loop/async-wrap.js');

const STACK_DEPTH = 16;

module.exports = function asyncWrap(binding) {
  const { kCheck, kStackLength, kExecutionAsyncId, kTriggerAsyncId, kAsyncIdCounter, kDefaultTriggerAsyncId } = binding.constants;
  const hookFields = binding.async_hook_fields;
  const idFields = binding.async_id_fields;
  const resources = binding.execution_async_resources;
  // [executionAsyncId, triggerAsyncId] pairs. A longer array can replace a full array, because
  // Node's JavaScript reads the property each time.
  binding.async_ids_stack = new Float64Array(STACK_DEPTH * 2);
  let hooks;
  connect(binding, () => hooks);

  idFields[kAsyncIdCounter] = 1;
  idFields[kDefaultTriggerAsyncId] = -1;
  hookFields[kCheck] = 1;

  binding.setupHooks = (functions) => {
    hooks = functions;
  };
  binding.setCallbackTrampoline = () => {};
  // An AsyncResource that no program destroyed is destroyed when the resource is garbage. An
  // earlier destroy sets `state.destroyed`.
  let registry;
  binding.registerDestroyHook = (resource, asyncId, state) => {
    registry ??= new FinalizationRegistry(([id, destroyState]) => {
      if (!destroyState?.destroyed) binding.queueDestroyAsyncId(id);
    });
    registry.register(resource, [asyncId, state]);
  };
  binding.executionAsyncResource = (index) => resources[index];

  // Promise hooks serve only `createHook`: AsyncLocalStorage does not use them, and without a hook
  // the engine calls nothing.
  let promiseHooks = [undefined, undefined, undefined, undefined];
  binding.setPromiseHooks = (...functions) => {
    promiseHooks = functions;
    native.setPromiseHooks(...functions);
  };
  binding.getPromiseHooks = () => promiseHooks;

  function growStack() {
    const larger = new Float64Array(binding.async_ids_stack.length * 3);
    larger.set(binding.async_ids_stack);
    binding.async_ids_stack = larger;
  }

  binding.pushAsyncContext = (asyncId, triggerAsyncId) => {
    const offset = hookFields[kStackLength];
    if (offset * 2 >= binding.async_ids_stack.length) growStack();
    binding.async_ids_stack[offset * 2] = idFields[kExecutionAsyncId];
    binding.async_ids_stack[offset * 2 + 1] = idFields[kTriggerAsyncId];
    hookFields[kStackLength] = offset + 1;
    idFields[kExecutionAsyncId] = asyncId;
    idFields[kTriggerAsyncId] = triggerAsyncId;
  };

  binding.popAsyncContext = (asyncId) => {
    const length = hookFields[kStackLength];
    if (length === 0) return false;
    if (hookFields[kCheck] > 0 && idFields[kExecutionAsyncId] !== asyncId) failCorrupted(idFields[kExecutionAsyncId], asyncId);
    const offset = length - 1;
    idFields[kExecutionAsyncId] = binding.async_ids_stack[offset * 2];
    idFields[kTriggerAsyncId] = binding.async_ids_stack[offset * 2 + 1];
    hookFields[kStackLength] = offset;
    if (resources.length > offset) resources.length = offset;
    return offset > 0;
  };

  binding.clearAsyncIdStack = () => {
    idFields[kExecutionAsyncId] = 0;
    idFields[kTriggerAsyncId] = 0;
    hookFields[kStackLength] = 0;
    resources.length = 0;
  };

  // Destroy hooks run in a task of the loop, and never inside the code that queues an id.
  const destroyed = [];
  binding.queueDestroyAsyncId = (asyncId) => {
    if (destroyed.push(asyncId) > 1) return;
    native.enqueueTask(() => {
      for (const id of destroyed.splice(0)) hooks.destroy(id);
    });
  };
};

// Does the work of Node's FailWithCorruptedAsyncStack: ends the process, because two callbacks did
// not end in the reverse order of their beginnings.
function failCorrupted(actual, expected) {
  native.write(2, `Error: async hook stack has become corrupted (actual: ${actual}, expected: ${expected})\n`);
  native.exit(1);
}
