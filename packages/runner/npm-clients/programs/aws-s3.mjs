// aws-s3: objects, ranges, uploads in parts, lists, copies and aborts.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const client = new S3Client({
  endpoint: process.env.SERVER,
  region: 'us-east-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
  requestChecksumCalculation: 'WHEN_REQUIRED',
});
const Bucket = 'bucket';

await client.send(new PutObjectCommand({ Bucket, Key: 'texts/ä ☃.txt', Body: 'text', Metadata: { kind: 'test' } }));
const text = await client.send(new GetObjectCommand({ Bucket, Key: 'texts/ä ☃.txt' }));
console.log('text', await text.Body.transformToString(), text.Metadata.kind);
const large = Buffer.alloc(12_000_000, 'large object ');
await client.send(new PutObjectCommand({ Bucket, Key: 'large', Body: large }));
const got = Buffer.from(await (await client.send(new GetObjectCommand({ Bucket, Key: 'large' }))).Body.transformToByteArray());
console.log('large', got.length, digest(got) === digest(large));
await client.send(
  new PutObjectCommand({ Bucket, Key: 'stream', Body: Readable.from([large.subarray(0, 100_000)]), ContentLength: 100_000 }),
);
console.log('stream', (await client.send(new HeadObjectCommand({ Bucket, Key: 'stream' }))).ContentLength);
const range = await client.send(new GetObjectCommand({ Bucket, Key: 'large', Range: 'bytes=6-11' }));
console.log('range', await range.Body.transformToString());

const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'parts' }));
const parts = await Promise.all(
  [1, 2, 3].map(async (PartNumber) => {
    const Body = Buffer.alloc(5_242_880, `${PartNumber}`);
    const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key: 'parts', UploadId, PartNumber, Body }));
    return { ETag, PartNumber };
  }),
);
await client.send(new CompleteMultipartUploadCommand({ Bucket, Key: 'parts', UploadId, MultipartUpload: { Parts: parts } }));
console.log('parts', (await client.send(new HeadObjectCommand({ Bucket, Key: 'parts' }))).ContentLength);

await Promise.all(
  Array.from({ length: 30 }, (_, n) => client.send(new PutObjectCommand({ Bucket, Key: `many/${n}`, Body: `${n}` }))),
);
const { Contents } = await client.send(new ListObjectsV2Command({ Bucket, Prefix: 'many/' }));
console.log(
  'list',
  Contents.length,
  Contents.reduce((sum, { Size }) => sum + Size, 0),
);
await client.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: 'bucket/stream' }));
const { Deleted } = await client.send(
  new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'copy' }, { Key: 'large' }] } }),
);
console.log('deleted', Deleted.length);
await client.send(new GetObjectCommand({ Bucket, Key: 'large' })).catch(({ name }) => console.log('error', name));
const controller = new AbortController();
const aborted = client.send(new GetObjectCommand({ Bucket, Key: 'parts' }), { abortSignal: controller.signal });
controller.abort();
await aborted.catch(({ name }) => console.log('abort', name));
client.destroy();
