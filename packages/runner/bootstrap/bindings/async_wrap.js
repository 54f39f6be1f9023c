// What: the stack of asynchronous ids (async_wrap.cc, env.cc AsyncHooks). Node's JavaScript keeps the top in typed arrays and comes here when the
// array part of the stack is full, or to clear it.
// Why the arrays are plain here: in Node they are shared with C++, which pushes ids for its own callbacks; ours are pushed by ../async-wrap.js.
'use strict';

const { connect } = require('../async-wrap.js');

const STACK_DEPTH = 16;

module.exports = function asyncWrap(binding) {
  const { kCheck, kStackLength, kExecutionAsyncId, kTriggerAsyncId, kAsyncIdCounter, kDefaultTriggerAsyncId } = binding.constants;
  const hookFields = binding.async_hook_fields;
  const idFields = binding.async_id_fields;
  const resources = binding.execution_async_resources;
  const stack = new Float64Array(STACK_DEPTH * 2);
  binding.async_ids_stack = stack;
  // Frames beyond the array: [executionAsyncId, triggerAsyncId] pairs.
  const deeper = [];
  let hooks;
  connect(binding, () => hooks);

  idFields[kAsyncIdCounter] = 1;
  idFields[kDefaultTriggerAsyncId] = -1;
  hookFields[kCheck] = 1;

  binding.setupHooks = (functions) => {
    hooks = functions;
  };
  binding.setCallbackTrampoline = () => {};
  binding.registerDestroyHook = () => {};
  binding.executionAsyncResource = (index) => resources[index];

  // Promise hooks serve `createHook` alone: AsyncLocalStorage does not use them, and without one the engine calls nothing.
  let promiseHooks = [undefined, undefined, undefined, undefined];
  binding.setPromiseHooks = (...functions) => {
    promiseHooks = functions;
    native.setPromiseHooks(...functions);
  };
  binding.getPromiseHooks = () => promiseHooks;

  binding.pushAsyncContext = (asyncId, triggerAsyncId) => {
    const offset = hookFields[kStackLength];
    const pair = [idFields[kExecutionAsyncId], idFields[kTriggerAsyncId]];
    if (offset * 2 < stack.length) {
      stack[offset * 2] = pair[0];
      stack[offset * 2 + 1] = pair[1];
    } else {
      deeper.push(pair);
    }
    hookFields[kStackLength] = offset + 1;
    idFields[kExecutionAsyncId] = asyncId;
    idFields[kTriggerAsyncId] = triggerAsyncId;
  };

  binding.popAsyncContext = () => {
    const length = hookFields[kStackLength];
    if (length === 0) return false;
    const offset = length - 1;
    const pair = offset * 2 < stack.length ? [stack[offset * 2], stack[offset * 2 + 1]] : deeper.pop();
    idFields[kExecutionAsyncId] = pair[0];
    idFields[kTriggerAsyncId] = pair[1];
    hookFields[kStackLength] = offset;
    if (resources.length > offset) resources.length = offset;
    return offset > 0;
  };

  binding.clearAsyncIdStack = () => {
    idFields[kExecutionAsyncId] = 0;
    idFields[kTriggerAsyncId] = 0;
    hookFields[kStackLength] = 0;
    resources.length = 0;
    deeper.length = 0;
  };

  // Destroy hooks never run inside the code that queued them.
  const destroyed = [];
  binding.queueDestroyAsyncId = (asyncId) => {
    if (destroyed.push(asyncId) > 1) return;
    native.enqueueTask(() => {
      for (const id of destroyed.splice(0)) hooks.destroy(id);
    });
  };
};
