// The process of Node that runs the programs of `perform()`. Messages of the benchmark contain the
// body of a program. The process replies with the program's result.

interface Perform {
  perform: number;
  body: string;
}

interface Reply {
  reply: number;
  value: unknown;
}

const send = (message: object): void => void process.send?.(message);

const replies = new Map<number, (value: unknown) => void>();
let calls = 0;

/** Calls the function of the app, as `callBinding()` does in a runtime. */
const callBinding = (_name: string, input: unknown): Promise<unknown> =>
  new Promise((resolve) => {
    replies.set(++calls, resolve);
    send({ call: calls, input });
  });
Object.assign(globalThis, { callBinding });

process.on('message', (message: Perform | Reply) => {
  if ('reply' in message) {
    replies.get(message.reply)?.(message.value);
    replies.delete(message.reply);
  } else {
    void perform(message);
  }
});

async function perform({ perform: id, body }: Perform): Promise<void> {
  try {
    // The number makes every module a new module, which is evaluated again.
    const source = `export default await (async () => {${body}})(); // ${id}`;
    const module = (await import(`data:text/javascript;base64,${Buffer.from(source).toString('base64')}`)) as {
      default: unknown;
    };
    send({ done: id, value: module.default });
  } catch (error) {
    send({ done: id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}
