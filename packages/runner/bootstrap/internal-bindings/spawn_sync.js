// Runs a child while this process waits (spawn_sync.cc): writes the input, collects the output, and
// suspends only this process. The loop that moves the bytes is in the guest. The output is
// therefore already in the program's memory, and the kernel needs no buffers. Next:
// ../processes/start.js, ../processes/piping.js.
'use strict';

const context = require('../context.js');
const { close: CLOSE } = require('../fs/calls.js').NUMBERS;
const { NUMBERS, exitCodeOf, signalOf, sys, sysWait } = require('../processes/calls.js');
const { Input, Output } = require('../processes/piping.js');
const { signalName } = require('../processes/signal-names.js');
const { start } = require('../processes/start.js');

const EAGAIN = -11;
const ESRCH = -3;
const ETIMEDOUT = -110;
const ENOBUFS = -105;
const SIGTERM = 15;
const SIGKILL = 9;
const FOREVER = -1;

class Run {
  #options;
  #pid;
  #pipes = [];
  #status = EAGAIN;
  #error = 0;
  #killed = false;
  #collected = 0;

  constructor(options) {
    this.#options = options;
  }

  run() {
    const { file, args, cwd, envPairs: env, stdio, detached, uid, gid, timeout } = this.#options;
    const ends = [];
    this.#pid = start({ file, args, cwd, env, stdio, detached, uid, gid }, ends);
    if (this.#pid < 0) {
      for (const fd of ends) if (fd !== undefined) sys(CLOSE, fd);
      return { pid: 0, status: null, signal: null, output: null, error: this.#pid };
    }
    ends.forEach((fd, index) => {
      const { readable, writable, input } = stdio[index];
      this.#pipes[index] = {
        fd,
        input: readable ? new Input(fd, input) : undefined,
        output: writable ? new Output(fd) : undefined,
      };
    });
    const deadline = timeout > 0 ? native.clockNs(1) + timeout * 1e6 : undefined;
    while (this.#step()) this.#wait(deadline);
    for (const pipe of this.#pipes) this.#close(pipe);
    return this.#result();
  }

  // Moves all bytes that can move without waiting. Returns whether the child still runs or more
  // bytes can follow.
  #step() {
    let open = 0;
    for (const pipe of this.#pipes) {
      if (pipe === undefined || pipe.fd < 0) continue;
      const writing = pipe.input?.feed() ?? false;
      const before = pipe.output?.length ?? 0;
      const reading = pipe.output?.collect() ?? false;
      this.#collected += (pipe.output?.length ?? 0) - before;
      if (writing || reading) open++;
      else this.#close(pipe);
    }
    const { maxBuffer } = this.#options;
    if (maxBuffer > 0 && this.#collected > maxBuffer) this.#end(ENOBUFS);
    if (this.#status < 0) this.#status = sys(NUMBERS.reap, this.#pid);
    return this.#status === EAGAIN || (open > 0 && !this.#killed);
  }

  #wait(deadline) {
    const watched = [];
    for (const pipe of this.#pipes) {
      if (pipe === undefined || pipe.fd < 0) continue;
      const mask = (pipe.output?.isOpen ? 1 : 0) | (pipe.input?.isOpen ? 4 : 0);
      if (mask !== 0) watched.push(pipe.fd, mask);
    }
    if (this.#status === EAGAIN) watched.push(this.#pid, 0);
    sys(NUMBERS.watch, new Uint32Array(watched));
    const left = deadline === undefined || this.#killed ? FOREVER : Math.max(0, deadline - native.clockNs(1));
    sysWait(NUMBERS.waitForWatched, left);
    if (left !== FOREVER && native.clockNs(1) >= deadline) this.#end(ETIMEDOUT);
  }

  // Sets the error of the run, sends the kill signal to the child, and closes the pipes. Sends
  // SIGKILL if the kill signal is invalid.
  #end(error) {
    if (this.#killed) return;
    this.#killed = true;
    this.#error ||= error;
    const sent = sys(NUMBERS.kill, this.#pid, this.#options.killSignal || SIGTERM);
    if (sent < 0 && sent !== ESRCH) {
      this.#error ||= sent;
      sys(NUMBERS.kill, this.#pid, SIGKILL);
    }
    for (const pipe of this.#pipes) this.#close(pipe);
  }

  #close(pipe) {
    if (pipe === undefined || pipe.fd < 0) return;
    sys(CLOSE, pipe.fd);
    pipe.fd = -1;
  }

  #result() {
    const signal = signalOf(this.#status);
    const { Buffer } = context.requireBuiltin('buffer');
    const output = this.#options.stdio.map((_, index) => this.#pipes[index]?.output?.take(Buffer) ?? null);
    const result = { pid: this.#pid };
    const error = this.#pipes.reduce((first, pipe) => first || pipe?.input?.error || 0, this.#error);
    if (error !== 0) result.error = error;
    result.status = signal > 0 ? null : exitCodeOf(this.#status);
    result.signal = signal > 0 ? signalName(signal) : null;
    result.output = output;
    return result;
  }
}

module.exports = function spawnSync(binding) {
  binding.spawn = (options) => new Run(options).run();
};
