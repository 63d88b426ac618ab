import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { startKafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { certificateOf, makeKeyStore, PASSWORD, secureProperties, USERS } from '../kafka/secure-listener.js';
import { startTokenServer } from '../kafka/token-server.js';

/** Brokers close connections that are older and have not proved again who they are; kafkajs does so 10 s before. */
const SESSION_MS = 12_000;
/** Replaced after 15 s; its session ends with it, or after SESSION_MS. */
const TOKEN_S = 30;
const APPEND_EVERY_MS = 200;

it.each(['plain', 'oauthbearer'])(
  'with %s proves again who it is, on both of its connections, before the broker closes them',
  async (way) => {
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-tls-'));
    const secure = secureProperties(await makeKeyStore(folder));
    const tokens = await startTokenServer({ lifeS: TOKEN_S });
    const kafka = await startKafka({
      properties: (ports) => ({
        ...secure(ports),
        'connections.max.reauth.ms': String(SESSION_MS),
        'super.users': `User:ANONYMOUS;User:${USERS.plain};User:dave`,
      }),
    });
    const { spare } = kafka.ports[0];
    const { url: tokenEndpoint, clientId, clientSecret } = tokens;
    const sasl: Record<string, string> =
      way === 'plain'
        ? { mechanism: way, username: USERS.plain, password: PASSWORD }
        : { mechanism: way, tokenEndpoint, clientId, clientSecret };
    const topic = new KafkaReportTopic(
      kafkaTopicConfig([`127.0.0.1:${spare}`], { tls: { ca: await certificateOf(spare) }, sasl }),
    );
    try {
      const listener = new RecordingListener();
      await topic.open(listener);
      const until = performance.now() + 2.5 * SESSION_MS;
      let appended = 0;
      while (performance.now() < until) {
        await topic.append([{ partition: 0, key: `${appended++}`, value: Buffer.alloc(10) }]);
        await sleep(APPEND_EVERY_MS);
      }
      await listener.until('all', () => listener.records.length === appended, 10_000);
      expect(listener.lost).toEqual([]);
      if (way === 'oauthbearer') expect(tokens.asked.length).toBeGreaterThanOrEqual(2);
    } finally {
      await topic.close();
      await tokens.stop();
      await kafka.stop();
      await rm(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
