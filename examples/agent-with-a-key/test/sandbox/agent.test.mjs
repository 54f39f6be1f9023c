// The agent uses the key of the API, and neither the agent nor the model can read the key.

import { expect, test } from 'vitest';
import { ask } from '../../agent.mjs';
import { address, startApi } from '../../mock-api.mjs';

const KEY = 'key-of-the-example-2f7c';

test.skipIf(address === undefined)('the agent answers, and its messages have a placeholder', async () => {
  const api = await startApi(KEY);
  try {
    const options = { api: `models.example.com:${api.port}`, addresses: { 'models.example.com': address }, insecure: true };
    const { answer, stderr } = await ask('What is the sum of the squares?', { ...options, key: KEY });
    expect([answer, stderr]).toEqual(['The sum of the squares is 50.', '']);
    expect(api.denied()).toBe(0);
    expect(api.seen.length).toBe(3);
    expect(JSON.stringify(api.seen)).not.toContain(KEY);
    expect(api.seen[2][1].result).toBe('50');
    expect(api.seen[2][2].result).toMatch(/^my key is cfs_[A-Za-z0-9]{32}$/);
    const wrong = await ask('What is the sum of the squares?', { ...options, key: 'another-key-of-equal-length' });
    expect(wrong.stderr).toContain('the API replied with 401');
    expect(api.denied()).toBe(1);
  } finally {
    api.close();
  }
});
