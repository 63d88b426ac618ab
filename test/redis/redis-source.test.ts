import { describe, expect, it } from 'vitest';
import { chooseRedis, type RedisProbes, WHAT_TO_INSTALL } from './redis-source.js';

const FETCHED = { server: '/cache/redis-server', libraries: '/cache/lib', hasTls: true };

function probes(found: Partial<RedisProbes>): RedisProbes {
  return {
    isInstalled: async () => false,
    fetch: async () => ({ reason: 'no apt, no pip' }),
    containerEngine: async () => null,
    ...found,
  };
}

describe('where the Redis comes from', () => {
  it('is the installed one; nothing is fetched then', async () => {
    const fetch = () => Promise.reject(new Error('asked'));
    const choice = await chooseRedis(probes({ isInstalled: async () => true, fetch }));
    expect(choice).toMatchObject({ kind: 'program', server: 'redis-server' });
  });

  it('is fetched, before a container engine is asked', async () => {
    const containerEngine = () => Promise.reject(new Error('asked'));
    const choice = await chooseRedis(probes({ fetch: async () => FETCHED, containerEngine }));
    expect(choice).toEqual({ kind: 'program', ...FETCHED });
  });

  it('is a container engine where none can be fetched', async () => {
    const choice = await chooseRedis(probes({ containerEngine: async () => 'podman' }));
    expect(choice).toEqual({ kind: 'container', engine: 'podman' });
  });

  it('is one line that says what to install and why none could be fetched, elsewhere', async () => {
    expect(await chooseRedis(probes({}))).toEqual({ reason: `${WHAT_TO_INSTALL} (no apt, no pip)` });
    expect(WHAT_TO_INSTALL).not.toContain('\n');
  });
});
