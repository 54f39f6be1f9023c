// aws-s3-signed: requests with the options and the key of the environment, which are the defaults
// of the client, and signed URLs.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const client = new S3Client({ endpoint: process.env.SERVER, forcePathStyle: true });
const Bucket = 'bucket';

await client.send(new PutObjectCommand({ Bucket, Key: 'texts/ä ☃+(1) &=.txt', Body: 'text', Metadata: { kind: 'two  spaces' } }));
const text = await client.send(new GetObjectCommand({ Bucket, Key: 'texts/ä ☃+(1) &=.txt' }));
console.log('text', await text.Body.transformToString());
const large = Buffer.alloc(3_000_000, 'large object ');
await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: large, ContentType: 'text/plain' }));
const got = Buffer.from(await (await client.send(new GetObjectCommand({ Bucket, Key: 'large' }))).Body.transformToByteArray());
console.log('large', got.length, digest(got) === digest(large));
// The client sends a stream in chunks of AWS, with a checksum behind them.
const Body = Readable.from([large.subarray(0, 70_000), large.subarray(70_000, 100_000)]);
await client.send(new PutObjectCommand({ Bucket, Key: 'stream', Body, ContentLength: 100_000 }));
console.log('stream', (await client.send(new HeadObjectCommand({ Bucket, Key: 'stream' }))).ContentLength);
const range = await client.send(new GetObjectCommand({ Bucket, Key: 'large', Range: 'bytes=6-11' }));
console.log('range', await range.Body.transformToString());

const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }));
const parts = await Promise.all(
  [1, 2, 3].map(async (PartNumber) => {
    const part = { Bucket, Key: 'parts', UploadId, PartNumber, Body: Buffer.alloc(5_242_880, `${PartNumber}`) };
    return { ETag: (await client.send(new UploadPartCommand(part))).ETag, PartNumber };
  }),
);
await client.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'parts', UploadId, MultipartUpload: { Parts: parts } }));
console.log('parts', (await client.send(new HeadObjectCommand({ Bucket, Key: 'parts' }))).ContentLength);

for (let n = 0; n < 5; n++) await client.send(new PutObjectCommand({ Bucket, Key: `many/${n}`, Body: `${n}` }));
const list = { Bucket, Prefix: 'many/', StartAfter: 'many/1', Delimiter: '+' };
console.log('list', (await client.send(new ListObjectsV2Command(list))).Contents.map(({ Key }) => Key).join());

const url = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'texts/ä ☃+(1) &=.txt' }), { expiresIn: 60 });
const signed = await fetch(url);
console.log('signed GET', signed.status, await signed.text());
const upload = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'uploaded' }), { expiresIn: 60 });
console.log('signed PUT', (await fetch(upload, { method: 'PUT', body: 'from a signed URL' })).status);
const uploaded = await client.send(new GetObjectCommand({ Bucket, Key: 'uploaded' }));
console.log('uploaded', await uploaded.Body.transformToString());

await client.send(new DeleteObjectCommand({ Bucket, Key: 'uploaded' }));
await client.send(new GetObjectCommand({ Bucket, Key: 'uploaded' })).catch(({ name }) => console.log('error', name));
const unsigned = await fetch(`${process.env.SERVER}/bucket/large`);
console.log('without a signature', unsigned.status);
const other = { accessKeyId: 'ANOTHERKEY', secretAccessKey: 'another' };
const stranger = new S3Client({ endpoint: process.env.SERVER, forcePathStyle: true, credentials: other });
await stranger.send(new GetObjectCommand({ Bucket, Key: 'large' })).catch(({ name }) => console.log('error', name));
client.destroy();
stranger.destroy();
