import { z } from 'zod';
import { METRIC_SELECTOR } from '../setting/metric-selector.js';
import { section } from '../setting/section.js';
import type { NamePattern } from '../setting/setting.js';
import { EXPORTER_URL, KAFKA_QUOTA_ENTITY } from './kafka-quota-entities.js';

const LABEL_NAME: NamePattern = {
  matches: /^[A-Za-z_]\w{0,199}$/,
  text: 'the name of a label: letters, digits and _',
};

function nameOf(name: string, what: string, pattern = METRIC_SELECTOR) {
  return {
    kind: 'name',
    default: name,
    pattern,
    missedBy: 'exporters with rules of their own',
    buys: `The name under which your exporters have ${what}.`,
    costs: 'Nothing. A name that no page has is told at the start, with the entities that were expected there.',
  } as const;
}

/**
 * Names Kafka's metrics as the JMX exporters do; the defaults are those of deploy/kafka/jmx.yml.
 * Rules that tell producers from consumers by a label: `byte_rate{type="Produce"}`.
 */
const METRIC_NAMES = section({
  producerRate: nameOf('kafka_server_produce_byte_rate', 'the bytes per second of a producer'),
  producerThrottle: nameOf('kafka_server_produce_throttle_time', 'how long its requests waited'),
  consumerRate: nameOf('kafka_server_fetch_byte_rate', 'the bytes per second of a consumer'),
  consumerThrottle: nameOf('kafka_server_fetch_throttle_time', 'how long its fetches waited'),
  userLabel: nameOf('user', 'the user, as a label', LABEL_NAME),
  clientIdLabel: nameOf('client_id', 'the client id, as a label', LABEL_NAME),
});

/** Settings of `quotamesh kafka-quotas`. Other commands check them, too, but do not use them. */
export const KAFKA_QUOTAS = section({
  exporters: {
    kind: 'entries',
    of: { schema: z.array(EXPORTER_URL), text: 'a list of addresses (docs/guide/kafka-quotas.md)' },
    default: null,
    defaultText: 'none',
    missedBy: 'every keeper',
    buys: 'The page of the JMX exporter of every broker, one each. What no page tells of is not shared.',
    costs: 'One request each per second, from every keeper.',
  },
  entities: {
    kind: 'entries',
    of: { schema: z.array(KAFKA_QUOTA_ENTITY), text: 'a list of users and client ids (docs/guide/kafka-quotas.md)' },
    default: null,
    defaultText: 'none: no quota of Kafka is touched',
    missedBy: 'every keeper',
    buys: 'User, client id or both → group, whose bytesPerSecond of publish and dispatch holds in the whole Kafka.',
    costs: 'Their producer_byte_rate and consumer_byte_rate in Kafka belong to quotamesh.',
  },
  foreignChanges: {
    kind: 'choice',
    default: 'leave',
    choices: ['leave', 'adopt'],
    missedBy: 'quotas written by others too',
    buys: 'adopt: a value that somebody else has written is taken over, and what it was is put back by --release.',
    costs: 'leave: the entity stays as it is until that value is removed, or adopted by --adopt. Both are told.',
  },
  metrics: METRIC_NAMES,
});
