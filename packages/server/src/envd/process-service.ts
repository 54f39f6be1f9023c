// The service `process.Process`: programs of a sandbox over Connect.

import type { Socket } from 'node:net';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext, type ServiceImpl } from '@connectrpc/connect';
import { isColdframeError } from 'coldframe';
import {
  type Process,
  type ProcessEvent,
  type ProcessEvent_EndEventSchema,
  ProcessEventSchema,
  type ProcessInput,
  type ProcessSelector,
  type PTY,
  Signal,
} from '../generated/process_pb.js';
import type { Output } from './backlog.js';
import { calledBy } from './context.js';
import { resolvePath } from './paths.js';
import type { OutputSource, Program, ProgramEnd, Reader, TerminalSize } from './programs.js';
import { Queue } from './queue.js';
import { DEFAULT_USER, environmentOf } from './user.js';

/** Bytes of output that wait for a client until the program waits. */
const WAITING_BYTES = 256 << 10;
/** Milliseconds that a program waits for a client that does not read. */
const STALLED_MS = 60_000;
/** Seconds without an event until an event `keepalive`, if the client states no number. */
const KEEPALIVE_S = 90;
const LONGEST_KEEPALIVE_S = 3_600;

/** The methods of the service. */
export const processService: ServiceImpl<typeof Process> = {
  list(_, context) {
    const { sandbox } = calledBy(context);
    const processes = sandbox.programs.running.map(({ config, pid, tag }) => ({
      config: { cmd: config.cmd, args: config.args, envs: config.envs, ...(config.cwd === undefined ? {} : { cwd: config.cwd }) },
      pid,
      ...(tag === undefined ? {} : { tag }),
    }));
    return { processes };
  },

  async *start({ process, pty, tag, stdin }, context) {
    const { sandbox, record, user, request } = calledBy(context);
    if (process === undefined) throw new ConnectError('process is required', Code.InvalidArgument);
    const { cmd, args, envs } = process;
    const given = process.cwd === undefined || process.cwd === '' ? record.workdir : resolvePath(process.cwd, user);
    // The runtime begins in the home of the usual user, so the SDK need not check the directory.
    const cwd = given ?? (user === DEFAULT_USER ? undefined : user.home);
    const baseEnv = { ...environmentOf(user), ...record.env };
    const events = new Events(request.socket);
    let program: Program;
    try {
      const wish = { cmd, args, envs, cwd, tag, hasStdin: stdin ?? true, baseEnv, user: user.name };
      program = await sandbox.programs.start({ ...wish, terminal: pty && sizeOfTerminal(pty) }, events);
    } catch (error) {
      throw startFailure(error, cmd, cwd ?? user.home);
    }
    // The client's deadline ends the program. The end of the connection does not, and a client may
    // end its connection shortly before its deadline.
    const left = context.timeoutMs();
    if (left !== undefined) program.killAfter(left);
    for await (const event of events.of(program, context)) yield { event };
  },

  async *connect({ process }, context) {
    const { sandbox, request } = calledBy(context);
    const program = programOf(sandbox.programs, process);
    const events = new Events(request.socket);
    program.read(events);
    for await (const event of events.of(program, context)) yield { event };
  },

  async sendInput({ process, input }, context) {
    await write(programOf(calledBy(context).sandbox.programs, process), input);
    return {};
  },

  async streamInput(messages, context) {
    const { sandbox } = calledBy(context);
    let program: Program | undefined;
    for await (const { event } of messages) {
      if (event.case === 'start') program = programOf(sandbox.programs, event.value.process);
      if (event.case !== 'data') continue;
      if (program === undefined) throw new ConnectError('the first message must be start', Code.InvalidArgument);
      await write(program, event.value.input);
    }
    return {};
  },

  async sendSignal({ process, signal }, context) {
    const program = programOf(calledBy(context).sandbox.programs, process);
    if (signal !== Signal.SIGTERM && signal !== Signal.SIGKILL) throw new ConnectError('invalid signal', Code.InvalidArgument);
    const lived = await program.kill(signal === Signal.SIGTERM ? 'SIGTERM' : 'SIGKILL');
    if (!lived) throw new ConnectError('process has ended', Code.NotFound);
    return {};
  },

  async closeStdin({ process }, context) {
    await programOf(calledBy(context).sandbox.programs, process).closeStdin();
    return {};
  },

  async update({ process, pty }, context) {
    const program = programOf(calledBy(context).sandbox.programs, process);
    if (pty === undefined) return {};
    if (!program.isOnTerminal) throw noTerminal();
    try {
      await program.resize(sizeOfTerminal(pty));
    } catch (error) {
      if (isColdframeError(error, 'ESRCH')) throw new ConnectError('process has ended', Code.NotFound);
      if (isColdframeError(error, 'ERR_INVALID_OPTION')) throw new ConnectError(error.message, Code.InvalidArgument);
      throw error;
    }
    return {};
  },
};

function programOf(
  programs: { find(selector: { pid: number } | { tag: string }): Program | undefined },
  selector: ProcessSelector | undefined,
): Program {
  const { case: kind, value } = selector?.selector ?? {};
  if (kind === undefined) throw new ConnectError('a pid or a tag is required', Code.InvalidArgument);
  const program = programs.find(kind === 'pid' ? { pid: value as number } : { tag: value as string });
  if (program === undefined) throw new ConnectError(`process with ${kind} ${value} not found`, Code.NotFound);
  return program;
}

async function write(program: Program, input: ProcessInput | undefined): Promise<void> {
  const { case: kind, value } = input?.input ?? {};
  if (kind === undefined || value === undefined) throw new ConnectError('input is required', Code.InvalidArgument);
  if (kind === 'pty' && !program.isOnTerminal) throw noTerminal();
  if (kind === 'stdin' && program.isOnTerminal)
    throw new ConnectError('the process has a pseudo terminal', Code.FailedPrecondition);
  if (kind === 'stdin' && !program.hasStdin) throw new ConnectError('stdin is not enabled for this process', Code.Internal);
  try {
    await program.write(value);
  } catch (error) {
    if (isColdframeError(error, 'ENOBUFS')) throw new ConnectError('the process does not read its stdin', Code.ResourceExhausted);
    if (isColdframeError(error)) throw new ConnectError(`the process does not read its stdin: ${error.message}`, Code.Internal);
    throw error;
  }
}

const noTerminal = (): ConnectError => new ConnectError('the process has no pseudo terminal', Code.FailedPrecondition);

/** The size of a terminal of a client that states no size. */
const USUAL_SIZE: TerminalSize = { cols: 80, rows: 24 };

// A message has further fields, which the SDK refuses.
function sizeOfTerminal({ size }: PTY): TerminalSize {
  const { cols, rows } = size ?? USUAL_SIZE;
  return { cols, rows };
}

// The events of one program for one client.
class Events implements Reader {
  readonly #queue = new Queue<ProcessEvent>(WAITING_BYTES, sizeOf);
  readonly #socket: Socket;
  #program: Program | undefined;
  /** The event that the loop of the client has and may not have sent. */
  #sending: ProcessEvent | undefined;

  /** `socket` is the connection of the client. */
  constructor(socket: Socket) {
    this.#socket = socket;
  }

  output(source: OutputSource, bytes: Uint8Array): Promise<void> | undefined {
    const read = this.#queue.push(eventOf({ case: 'data', value: { output: { case: source, value: bytes } } }));
    return read && this.#untilStalled(read);
  }

  // A client that no longer reads loses its connection, so that the program continues.
  async #untilStalled(read: Promise<void>): Promise<void> {
    const timer = setTimeout(() => {
      this.#socket.destroy();
      this.#leave();
    }, STALLED_MS);
    timer.unref();
    await read;
    clearTimeout(timer);
  }

  end(end: ProgramEnd): void {
    this.#queue.push(eventOf({ case: 'end', value: endEvent(end) }));
    this.#queue.end();
  }

  /** Yields the start, the output and the end of the program until the call of the client ends. */
  async *of(program: Program, context: HandlerContext): AsyncIterable<ProcessEvent> {
    this.#program = program;
    const close = (): void => this.#leave();
    if (context.signal.aborted) close();
    context.signal.addEventListener('abort', close);
    const seconds = Math.min(Number(context.requestHeader.get('keepalive-ping-interval')) || KEEPALIVE_S, LONGEST_KEEPALIVE_S);
    const timer = setInterval(() => this.#queue.push(eventOf({ case: 'keepalive', value: {} })), seconds * 1_000);
    timer.unref();
    try {
      yield eventOf({ case: 'start', value: { pid: program.pid } });
      for await (const event of this.#queue) {
        timer.refresh();
        this.#sending = event;
        yield event;
        this.#sending = undefined;
      }
    } finally {
      clearInterval(timer);
      context.signal.removeEventListener('abort', close);
      close();
    }
    if (isDeadline(context)) throw new ConnectError('the time of the command is over', Code.DeadlineExceeded);
  }

  // Returns the output that the client has not taken to the program.
  #leave(): void {
    const events = this.#sending === undefined ? [] : [this.#sending];
    this.#sending = undefined;
    this.#program?.leave(this, [...events, ...this.#queue.close()].flatMap(outputOf));
  }
}

type EventInit = NonNullable<MessageInitShape<typeof ProcessEventSchema>['event']>;
const eventOf = (event: EventInit): ProcessEvent => create(ProcessEventSchema, { event });

function endEvent({ exitCode, exited, status }: ProgramEnd): MessageInitShape<typeof ProcessEvent_EndEventSchema> {
  return { exitCode, exited, status, ...(exitCode === 0 ? {} : { error: status }) };
}

function outputOf({ event }: ProcessEvent): Output[] {
  const output = event.case === 'data' ? event.value.output : undefined;
  return output?.case === undefined ? [] : [{ source: output.case, bytes: output.value }];
}

const sizeOf = ({ event }: ProcessEvent): number => (event.case === 'data' ? (event.value.output.value?.length ?? 0) : 0);

const isDeadline = ({ signal }: HandlerContext): boolean =>
  signal.aborted && signal.reason instanceof ConnectError && signal.reason.code === Code.DeadlineExceeded;

function startFailure(error: unknown, cmd: string, cwd: string): unknown {
  if (!isColdframeError(error)) return error;
  if ('syscall' in error && error.syscall === 'chdir') {
    return new ConnectError(`cwd '${cwd}' does not exist`, Code.InvalidArgument);
  }
  if (error.code === 'ENOENT') return new ConnectError(`command '${cmd}' not found`, Code.NotFound);
  if (error.code === 'EACCES' || error.code === 'ENOEXEC') return new ConnectError(error.message, Code.PermissionDenied);
  if (error.code === 'ERR_INVALID_OPTION') return new ConnectError(error.message, Code.InvalidArgument);
  if (error.code === 'ERR_RESOURCE_EXHAUSTED') return new ConnectError(error.message, Code.ResourceExhausted);
  return error;
}
