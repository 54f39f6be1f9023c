// pino: JSON lines, children, serializers and redaction.

import pino from 'pino';

const options = {
  base: { app: 'x' },
  timestamp: false,
  level: 'debug',
  redact: ['password', 'user.token'],
  serializers: { request: ({ method, url }) => `${method} ${url}` },
};
const logger = pino(options, { write: (line) => process.stdout.write(line) });
logger.info('hello %s', 'world');
logger.debug({ password: 'p', user: { token: 't', name: 'n' } }, 'redacted');
logger.child({ request: { method: 'GET', url: '/' } }).warn('child');
logger.error({ err: { name: 'Error', message: 'm' } });
logger.trace('not shown');
console.log(logger.isLevelEnabled('trace'), logger.levels.labels);
