// winston: levels, formats and transports.

import { PassThrough } from 'node:stream';
import winston from 'winston';

const { combine, errors, json, label, printf, splat } = winston.format;
const stream = new PassThrough();
stream.on('data', (chunk) => process.stdout.write(`stream: ${chunk}`));
const logger = winston.createLogger({
  level: 'debug',
  format: combine(label({ label: 'app' }), splat(), errors(), json()),
  defaultMeta: { service: 'x' },
  transports: [
    new winston.transports.Stream({ stream }),
    new winston.transports.Console({ level: 'warn', format: printf(({ level, message }) => `${level}: ${message}`) }),
  ],
});
logger.debug('count %d of %s', 3, 'five');
logger.warn('careful', { code: 7 });
logger.error(new Error('broken'));
logger.silly('not shown');
logger.child({ request: 1 }).info('child');
logger.end();
