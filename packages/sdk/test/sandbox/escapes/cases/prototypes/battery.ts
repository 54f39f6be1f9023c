// Defines the calls that every poisoned program makes. The calls use each part of Node's library,
// so that the poison reaches every part.

export const BATTERY = `
const battery = async () => {
  const { default: fs } = await import('node:fs');
  const { default: net } = await import('node:net');
  const { default: child } = await import('node:child_process');
  const { default: crypto } = await import('node:crypto');
  const { default: zlib } = await import('node:zlib');
  const { default: vm } = await import('node:vm');
  const { default: util } = await import('node:util');
  const { default: http } = await import('node:http');
  const { default: stream } = await import('node:stream');
  const patience = (work) => Promise.race([work, new Promise((resolve) => setTimeout(resolve, 300))]);
  const works = [
    () => fs.writeFileSync('a', 'text'),
    () => fs.readFileSync('a', 'utf8'),
    () => fs.readdirSync('/', { withFileTypes: true }),
    () => fs.statSync('a', { bigint: true }),
    () => fs.mkdirSync('x/y/z', { recursive: true }),
    () => fs.cpSync('x', 'w', { recursive: true }),
    () => fs.rmSync('w', { recursive: true }),
    () => fs.openSync('/etc/shadow'),
    () => fs.readFileSync('/etc/shadow'),
    () => fs.writeFileSync('/etc/passwd', ''),
    () => patience(fs.promises.readFile('a')),
    () => patience(fs.promises.mkdir('p')),
    () => child.spawnSync('node', ['-p', '1'], { timeout: 2_000 }),
    () => child.spawnSync('/etc/shadow'),
    () => child.execFileSync('sh', ['-c', 'echo 1'], { timeout: 2_000 }),
    () => crypto.createHash('sha256').update('x').digest('hex'),
    () => crypto.randomBytes(8),
    () => crypto.generateKeyPairSync('ed25519'),
    () => crypto.scryptSync('a', 'b', 16),
    () => zlib.gunzipSync(zlib.gzipSync('text')),
    () => vm.runInNewContext('1 + 1'),
    () => structuredClone(new Map([[1, { a: [new Date(), /x/, new Uint8Array(4)] }]])),
    () => util.inspect(new Proxy({ a: [1] }, {})),
    () => new URL('http://a/b?c#d').searchParams.get('c'),
    () => new TextDecoder().decode(new Uint8Array([65])),
    () => JSON.parse('{"a":[1]}'),
    () => patience(new Promise((resolve) => {
      const server = net.createServer((socket) => socket.end('x'))
        .listen(0, () => net.connect(server.address().port)
          .on('data', () => {})
          .on('close', () => server.close(resolve))
          .on('error', resolve))
        .on('error', resolve);
    })),
    () => patience(new Promise((resolve) => http.get({ host: '10.0.0.1', port: 80 }).on('error', resolve))),
    () => patience(fetch('data:text/plain,x').then((answer) => answer.text())),
    () => patience(stream.promises.pipeline(stream.Readable.from(['a']), new stream.PassThrough().resume())),
    () => process.binding('fs'),
    () => process.hrtime.bigint(),
    () => process.kill(1),
    () => process.chdir('/tmp'),
    () => new (class extends Uint8Array {})(8).subarray(2).slice(1),
    () => Buffer.from('x').toString('base64')
  ];
  let went = 0;
  for (let i = 0; i < works.length; i++) { try { await works[i](); went++; } catch {} }
  return went;
};`;
