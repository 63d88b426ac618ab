import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { createTopic } from '../../src/node/loop/open-topics.js';
import { signatureFindings } from '../../src/tools/doctor/signature-finding.js';
import { examineRedis } from '../../src/topic/redis/examine-redis.js';
import type { RedisTopicConfig } from '../../src/topic/redis/kind.js';
import { RedisConnection } from '../../src/topic/redis/redis-connection.js';
import { RedisReportTopic } from '../../src/topic/redis/redis-report-topic.js';
import { redisTopicOptions } from '../../src/topic/redis/redis-topic-options.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { settled, within } from '../conformance/topic-expectations.js';
import { type RedisServer, startRedis } from '../redis/redis.js';
import { findRedis } from '../redis/redis-source.js';
import { redisTopicConfig } from '../redis/redis-topic-config.js';

const run = promisify(execFile);
const DEADLINE_MS = 15_000;
const PASSWORD = 'correct horse';
const source = await findRedis();
const isHere = source !== null;
const hasTls = source?.kind === 'container' || source?.hasTls === true;
if (isHere && !hasTls) console.log('skipped: the redis-server of PyPI has no TLS; install redis-server or apt');
const itOverTls = it.skipIf(!hasTls);
/** What a user of the topic needs, and no more. */
const RIGHTS =
  '~quotamesh:* resetchannels -@all +evalsha +script|load +info +select +xread +xrange +hget +hscan +xadd +xinfo|stream +hset +hdel +hmget +del +exists +time';

/** Each of them, but for `select`, which another database needs alone. */
const NEEDED = [...RIGHTS.matchAll(/\+(?!select)(\w+)/g)].map(([, command]) => command);

describe.skipIf(!isHere)('a Redis that asks who it is', () => {
  let folder: string;
  let plain: RedisServer;
  let secure: RedisServer;
  let ca: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quotamesh-tls-'));
    const hash = await sha256(PASSWORD);
    const less = NEEDED.map((command) => `user no-${command} on "#${hash}" ${RIGHTS} -${command}`);
    const users = ['user default off', `user alice on "#${hash}" ${RIGHTS}`, ...less];
    plain = await startRedis({ config: users, guarded: true });
    if (hasTls) await startSecure();
  });

  async function startSecure(): Promise<void> {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
    await run('openssl', [...request, ...subject]);
    ca = await readFile(cert, 'utf8');
    const { port } = await startRedis().then(async (server) => {
      await server.stop();
      return server;
    });
    const tls = [`tls-port ${port}`, `tls-cert-file ${cert}`, `tls-key-file ${key}`, 'tls-auth-clients no'];
    secure = await startRedis({ port, config: [...tls, `requirepass "${PASSWORD}"`], guarded: true });
  }

  afterAll(async () => {
    await Promise.all([plain?.stop(), secure?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const opened: RedisReportTopic[] = [];
  afterEach(() => Promise.all(opened.splice(0).map((topic) => topic.close())));

  function make(server: RedisServer, overrides: Partial<RedisTopicConfig>) {
    const config = redisTopicConfig([server.address], { prefix: 'quotamesh:', ...overrides });
    const topic = new RedisReportTopic({ cluster: 'c', log: 'reports' }, config);
    opened.push(topic);
    return { topic, listener: new RecordingListener() };
  }

  async function expectToWork({ topic, listener }: ReturnType<typeof make>): Promise<void> {
    await within(DEADLINE_MS, 'open', () => topic.open(listener));
    await topic.append([{ partition: 0, key: 'key', value: Buffer.from('value') }]);
    await topic.append([{ partition: 0, key: 'key', value: null }]);
    await listener.until('both', () => listener.records.length >= 2, DEADLINE_MS);
  }

  it('works with a user that has the rights of docs/operate/redis.md and no more', () =>
    expectToWork(make(plain, { username: 'alice', password: PASSWORD })));

  it('works in another database', () => expectToWork(make(plain, { username: 'alice', password: PASSWORD, db: 3 })));

  itOverTls('works over TLS with the password of the server', () =>
    expectToWork(make(secure, { tls: { ca }, password: PASSWORD })),
  );

  it('doctor finds no key of its own with these rights, and makes and changes nothing', async () => {
    const alice = new RedisConnection(redisTopicOptions('c', 'reports', redisTopicConfig([plain.address]), {}));
    await alice.connect();
    await alice.send('AUTH', ['alice', PASSWORD]);
    const meta = (prefix: string) => alice.send('HMGET', [`${prefix}c:reports:meta`, 'run', 'offset', 'created']);
    const state = () => Promise.all(['quotamesh:signed:', 'quotamesh:new:'].map(meta));
    const config = (key: string, prefix = 'quotamesh:signed:') => {
      const hmac = { key: key.repeat(32) };
      const topic = { kind: 'redis', addresses: [plain.address], prefix, username: 'alice', password: PASSWORD, hmac };
      return resolveConfig({ cluster: 'c', topic }, { source: '(test)', env: {} });
    };
    const look = async (...of: Parameters<typeof config>) => {
      const before = await state();
      const [finding] = await signatureFindings(config(...of), DEADLINE_MS);
      expect(await state()).toEqual(before);
      return finding;
    };
    expect(await look('a', 'quotamesh:new:')).toMatchObject({ state: 'skipped' });
    const topic = await createTopic(config('a'), silentTelemetry);
    await topic.open(new RecordingListener());
    await topic.append(['1', '2'].map((key) => ({ partition: 0, key, value: Buffer.from(key) })));
    await topic.close();
    expect(await look('a')).toMatchObject({ state: 'good' });
    expect(await look('b')).toMatchObject({
      code: 'TOPIC_KEY_DIFFERS',
      says: expect.stringMatching(/: 2 unknown-key$/),
    });
    alice.destroy(new Error('seen'));
  });

  it.each([
    { what: 'no password', overrides: {}, code: 'TOPIC_DENIED' },
    { what: 'a wrong password', overrides: { username: 'alice', password: 'wrong' }, code: 'TOPIC_DENIED' },
    {
      what: 'a key outside of the rights',
      overrides: { username: 'alice', password: PASSWORD, prefix: 'other:' },
      code: 'TOPIC_DENIED',
    },
    {
      what: 'a database that is not there',
      overrides: { username: 'alice', password: PASSWORD, db: 99 },
      code: 'TOPIC_SETTINGS',
    },
  ])('refuses to open: $what', async ({ overrides, code }) => {
    const { topic, listener } = make(plain, overrides);
    expect(await within(DEADLINE_MS, 'open', () => settled(topic.open(listener)))).toBe(code);
  });

  it.each(NEEDED)('refuses to open and names what is missing, doctor too: %s', async (command) => {
    const user = { prefix: 'quotamesh:', username: `no-${command}`, password: PASSWORD };
    const { topic, listener } = make(plain, user);
    const named = { code: 'TOPIC_DENIED', message: expect.stringMatching(new RegExp(`'${command}\\b`)) };
    const opening = within(DEADLINE_MS, command, () => topic.open(listener));
    await expect(opening).rejects.toMatchObject({ ...named, remedy: expect.stringContaining('docs/operate/redis.md') });
    const finding = await findingOf(redisTopicConfig([plain.address], user));
    expect(finding).toMatchObject({ code: 'TOPIC_DENIED', says: expect.stringMatching(new RegExp(`'${command}\\b`)) });
  });

  it('a Redis Cluster is refused by name, by doctor too', async () => {
    const cluster = await startRedis({ config: ['cluster-enabled yes'] });
    try {
      const { topic, listener } = make(cluster, {});
      const refused = { code: 'TOPIC_SETTINGS', message: expect.stringContaining('this is a Redis Cluster') };
      await expect(topic.open(listener)).rejects.toMatchObject(refused);
      const finding = await findingOf(redisTopicConfig([cluster.address]));
      expect(finding).toMatchObject({ state: 'wrong' });
    } finally {
      await cluster.stop();
    }
  });

  itOverTls('stays pending where the certificate is not trusted, and says why', async () => {
    const { topic, listener } = make(secure, { tls: true, password: PASSWORD });
    const opening = settled(topic.open(listener));
    await listener.until('lost', () => listener.lost.length === 1, DEADLINE_MS);
    expect(listener.lost[0]).toMatch(/self-signed certificate/);
    await topic.close();
    expect(await opening).toBe('TOPIC_CLOSED');
  });

  // A socket that is ended in its handshake has a second error after the first; nobody heard it, and the process ended.
  itOverTls('a connection that is given up in the middle of its handshake ends quietly', async () => {
    const config = redisTopicConfig([secure.address], { tls: true, password: PASSWORD });
    const options = redisTopicOptions('c', 'reports', config, {});
    const unheard: unknown[] = [];
    const hear = (error: unknown) => unheard.push(error);
    process.on('uncaughtExceptionMonitor', hear);
    for (let turn = 0; turn < 25; turn++) {
      const both = [new RedisConnection(options), new RedisConnection(options)];
      await Promise.race(both.map((one) => settled(one.connect())));
      for (const one of both) one.destroy(new Error('given up'));
    }
    await sleep(100);
    process.off('uncaughtExceptionMonitor', hear);
    expect(unheard).toEqual([]);
  });
});

async function sha256(text: string): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(text).digest('hex');
}

async function findingOf(topic: RedisTopicConfig) {
  const { findings } = await examineRedis(topic, { cluster: 'c', logs: ['reports'], timeoutMs: DEADLINE_MS });
  return findings[0];
}
