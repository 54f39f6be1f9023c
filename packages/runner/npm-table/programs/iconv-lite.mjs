// iconv-lite: encodings of several languages.

import iconv from 'iconv-lite';

const text = 'Grüße, мир, 世界, こんにちは';
for (const encoding of ['win1251', 'latin1', 'Shift_JIS', 'gbk', 'EUC-KR', 'utf-16be', 'utf-7', 'cp866', 'Big5']) {
  const bytes = iconv.encode(text, encoding);
  console.log(encoding, bytes.length, bytes.subarray(0, 12).toString('hex'), iconv.decode(bytes, encoding));
}
console.log(
  iconv.encodingExists('nope'),
  iconv.encode('x', 'utf16'),
  iconv.decode(Buffer.from([0xef, 0xbb, 0xbf, 0x61]), 'utf8'),
);
const decoder = iconv.getDecoder('Shift_JIS');
console.log(decoder.write(Buffer.from([0x82])) + decoder.write(Buffer.from([0xb1])) + (decoder.end() ?? ''));
