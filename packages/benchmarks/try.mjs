import { NodeRuntime, Sidecar } from 'coldframe';

const runtime = await NodeRuntime.create({});
const w = (ms) => new Promise((r) => setTimeout(r, ms));
const log = (...a) => console.log(Math.round(performance.now()), ...a);
for (const code of [
  "console.log('a'); setTimeout(()=>console.log('b'),300)",
  "console.log('a'); for(let t=Date.now(); Date.now()-t<300;); console.log('b')",
  "console.log('a'); process.kill(process.pid,'SIGSTOP'); console.log('b')",
]) {
  const child = await runtime.spawn(code);
  const it = child.stdout[Symbol.asyncIterator]();
  log('1', !!(await Promise.race([it.next(), w(2000)])));
  if (code.includes('STOP')) {
    await w(100);
    await child.kill('SIGCONT');
  }
  log('2', !!(await Promise.race([it.next(), w(2000)])));
  log('wait', await Promise.race([child.wait(), w(1000)]));
}
process.exit();
