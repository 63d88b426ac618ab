import { expect, it, vi } from 'vitest';
import type { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import type { BrokerLink } from '../../../src/topic/kafka/broker-link.js';
import { loadKafkajs } from '../../../src/topic/kafka/kafkajs-internals.js';
import { LeaderWriter } from '../../../src/topic/kafka/leader-writer.js';
import { refusalOf } from '../../../src/topic/kafka/missing-rights.js';
import { NEEDED_ACLS } from '../../../src/topic/kafka/needed-acls.js';
import { aclMissing, brokerError } from '../../../src/topic/kafka/topic-failure.js';
import type { MetadataAnswer } from '../../../src/topic/kafka/topic-metadata.js';
import { Outbox } from '../../../src/topic/remote/outbox.js';
import { ToldFailure } from '../../../src/topic/remote/told-failure.js';

const ACCESS = { topic: 'reports', grantee: { principal: 'User:node', bootstrapServer: 'kafka:9092' } };
const REFUSED = 29;
const READ = 1 << 3;
const WRITE = 1 << 4;
const DESCRIBE_CONFIGS = 1 << 10;

/** A broker that answers for the topic; null = it ends the connection. */
function brokerOf(found: { topicErrorCode: number; rights: number | null } | null, isNew = true): BrokerLink {
  const answer = { topicMetadata: [found] } as unknown as MetadataAnswer;
  const exchange = () => (found === null ? Promise.reject(new Error('closed')) : Promise.resolve(answer));
  return { serves: () => isNew, exchange } as unknown as BrokerLink;
}

it.each([
  ['what was refused alone', brokerOf({ topicErrorCode: 0, rights: WRITE | DESCRIBE_CONFIGS }), 'Read'],
  ['all that is missing', brokerOf({ topicErrorCode: 0, rights: WRITE }), 'Read, DescribeConfigs'],
  [
    'all of a topic that is hidden',
    brokerOf({ topicErrorCode: REFUSED, rights: null }),
    'Read, Write, DescribeConfigs',
  ],
  ['what was given back meanwhile', brokerOf({ topicErrorCode: 0, rights: READ | WRITE | DESCRIBE_CONFIGS }), 'Read'],
  ['what was refused, by a broker that does not tell', brokerOf({ topicErrorCode: 0, rights: null }), 'Read'],
  ['what was refused, by a broker before Kafka 2.8', brokerOf(null, false), 'Read'],
  ['what was refused, where asking fails', brokerOf(null), 'Read'],
])('a refused fetch names %s', async (_, link, operation) => {
  const refusal = await refusalOf(brokerError(loadKafkajs(), REFUSED), link, ACCESS, 'Read');
  expect(refusal).toMatchObject({ code: 'TOPIC_ACL_MISSING', facts: { operation } });
});

it('asks for no rights where another failure ended the fetch', async () => {
  expect(await refusalOf(new Error('closed'), brokerOf(null), ACCESS, 'Read')).toBeNull();
});

it('asks for the rights once, however many partitions of a produce were refused', async () => {
  const partitions = Array.from({ length: 16 }, (_, partition) => ({ partition, errorCode: REFUSED }));
  const found = { topicErrorCode: 0, rights: READ | DESCRIBE_CONFIGS };
  const exchange = vi.fn(() => Promise.resolve({ topicMetadata: [found] }));
  const send = () => Promise.resolve({ topics: [{ partitions }] });
  const link = { serves: () => true, exchange, send } as unknown as BrokerLink;
  const [outbox, stop] = [new Outbox(), new AbortController()];
  const settings = { ...ACCESS, compression: 'none', appendTimeoutMs: 1000 } as const;
  const writer = new LeaderWriter(
    loadKafkajs(),
    link,
    partitions.map(({ partition }) => partition),
    outbox,
    settings,
  );
  const settled: (Error | null)[] = [];
  outbox.put(
    partitions.map(({ partition }) => ({ partition, records: [], bytes: 0, settle: (error) => settled.push(error) })),
  );
  const writing = writer.run(stop.signal);
  await vi.waitFor(() => expect(settled).toHaveLength(16));
  stop.abort();
  await writing;
  expect(new Set(settled.map((error) => (error as QuotameshError).code))).toEqual(new Set(['TOPIC_ACL_MISSING']));
  expect(exchange).toHaveBeenCalledTimes(1);
});

it('tells a right that is missing once, one more anew, and none that comes back before the others', () => {
  const failures: unknown[] = [];
  const listener = { onFailed: (error: { facts: object }) => failures.push(error.facts) };
  const voice = { topic: 'reports', log: () => {}, listener } as unknown as ConstructorParameters<
    typeof ToldFailure
  >[0];
  const told = new ToldFailure(voice);
  const tell = (...operations: string[]) =>
    told.tell(
      aclMissing(
        NEEDED_ACLS.filter(({ operation }) => operations.includes(operation)),
        ACCESS,
      ),
    );
  tell('Write');
  tell('Write');
  tell('Read', 'Write');
  tell('Read');
  tell('Write');
  told.allWorks();
  tell('Write');
  const operations = ['Write', 'Read, Write', 'Write'];
  expect(failures).toMatchObject(operations.map((operation) => ({ operation })));
});
