// The sandbox and the user of one call, which the front has found by the request's headers.

import type { IncomingMessage } from 'node:http';
import { Code, ConnectError, createContextKey, type HandlerContext } from '@connectrpc/connect';
import type { SandboxRecord } from '../registry/records.js';
import type { Sandbox } from '../sandboxes/sandbox.js';
import { type User, userOfHeader } from './user.js';

/** A call to the agent of a running sandbox. */
export interface AgentCall {
  record: SandboxRecord;
  sandbox: Sandbox;
  request: IncomingMessage;
  /** Returns whether a token opens the calls of programs and files. */
  isOpenedBy(token: string): boolean;
}

const CALLS = new WeakMap<IncomingMessage, AgentCall>();

/** Stores the call of a request. */
export const setCall = (call: AgentCall): void => void CALLS.set(call.request, call);

/** Returns the call of a request that the front has passed on. */
export function callOf(request: IncomingMessage): AgentCall {
  const call = CALLS.get(request);
  if (call === undefined) throw new Error('The request has no sandbox.');
  return call;
}

/** The key of the call among the values of a context of Connect. */
export const CALL = createContextKey<AgentCall | undefined>(undefined, { description: 'the sandbox of the call' });

/** Returns the call and the user of a context. Fails with `unauthenticated` for an unknown user. */
export function calledBy(context: HandlerContext): AgentCall & { user: User } {
  const call = context.values.get(CALL);
  if (call === undefined) throw new ConnectError('The request has no sandbox.', Code.Internal);
  const { name, user } = userOfHeader(context.requestHeader.get('authorization'), call.record.user);
  if (user === undefined) throw new ConnectError(`invalid username: '${name}'`, Code.Unauthenticated);
  return { ...call, user };
}
