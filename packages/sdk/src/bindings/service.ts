// Runs one call of a binding: parses and validates the input, waits for a permit, and runs the
// handler within `timeoutMs`. The reply is JSON: `=` and the result, or `!` and the error. Next:
// `binding-registry.ts`, all bindings of a runtime.

import type { HostRequest } from '../host-calls/dispatcher.js';
import type { Binding } from './binding.js';
import { BindingFailure, failureOf } from './failure.js';
import { encodeFailure, encodeResult, parseInput } from './json.js';

/** Runs one call. Returns the encoded result or failure, and never rejects. */
export async function callBinding(binding: Binding, request: HostRequest): Promise<Uint8Array> {
  const { name, timeoutMs } = binding;
  let end = (_: unknown): void => {};
  const over = new Promise<never>((_, reject) => {
    end = reject;
  });
  const timer = setTimeout(() => {
    const message = `The binding '${name}' has not answered within ${timeoutMs} ms`;
    end(new BindingFailure('ERR_BINDING_TIMEOUT', message, { timeoutMs }));
    request.abort(new DOMException(message, 'TimeoutError'));
  }, timeoutMs).unref();
  // The rejection ends the waits of this function. The dispatcher drops the result of an abandoned
  // call.
  request.onAbandoned(() => end(new BindingFailure('ERR_BINDING_FAILED', `The call of the binding '${name}' was abandoned`)));
  try {
    return await Promise.race([runHandler(binding, request, over), over]);
  } catch (error) {
    return encodeFailure(failureOf(error));
  } finally {
    clearTimeout(timer);
  }
}

async function runHandler(binding: Binding, request: HostRequest, over: Promise<never>): Promise<Uint8Array> {
  const { name, concurrency, handler, validate, maxOutputBytes } = binding;
  const checked = validate(parseInput(name, request.input), request.input.length);
  const input = checked instanceof Promise ? await checked : checked;
  const waiting = concurrency.enter();
  if (waiting !== undefined) {
    try {
      await Promise.race([waiting.permit, over]);
    } catch (error) {
      waiting.cancel();
      throw error;
    }
  }
  try {
    const { pid } = request;
    const context = {
      pid,
      get signal() {
        return request.signal;
      },
    };
    return encodeResult(name, await handler(input, context), maxOutputBytes);
  } finally {
    concurrency.leave();
  }
}
