// jszip: archives made and read again.

import JSZip from 'jszip';

const zip = new JSZip();
const date = new Date(Date.UTC(2024, 0, 1));
zip.file('hello.txt', 'hello '.repeat(100), { date });
zip.folder('deep').file('bytes.bin', Uint8Array.from([0, 1, 2, 255]), { date, comment: 'bytes' });
const bytes = await zip.generateAsync({ type: 'nodebuffer', compression: 'DEFLATE', platform: 'UNIX' });
const again = await JSZip.loadAsync(bytes, { checkCRC32: true });
console.log(bytes.length < 600, Object.keys(again.files), (await again.file('hello.txt').async('string')).length);
console.log(await again.file('deep/bytes.bin').async('uint8array'), again.file('deep/bytes.bin').comment);
console.log(await JSZip.loadAsync('nonsense').catch((error) => error.message.split('(')[0].trim()));
