import type { z } from 'zod';
import { NO_TOPIC } from '../../topic/alone/kind.js';
import { EMBEDDED_TOPIC } from '../../topic/embedded/kind.js';
import { KAFKA_TOPIC } from '../../topic/kafka/kind.js';
import { MEMORY_TOPIC } from '../../topic/memory/kind.js';
import { REDIS_TOPIC } from '../../topic/redis/kind.js';
import { type Section, section, type ValueOf } from '../setting/section.js';
import type { Setting } from '../setting/setting.js';
import { TLS } from '../setting/tls.js';
import type { AnyTopicKind } from '../setting/topic-kind.js';
import { HMAC } from './hmac.js';

/** The kinds of topics: each is a folder below src/topic, and stands in this list alone. */
export const KINDS = {
  none: NO_TOPIC,
  memory: MEMORY_TOPIC,
  embedded: EMBEDDED_TOPIC,
  kafka: KAFKA_TOPIC,
  redis: REDIS_TOPIC,
} as const;

export type TopicKind = keyof typeof KINDS;

const NAMES = Object.keys(KINDS) as TopicKind[];

/** Names the kinds that nodes of any processes share, for messages. */
export const SHARED_KINDS = named((kind) => kind.sharedBy === 'processes');
/** Names the kinds that have a topic at all. */
export const KINDS_WITH_TOPIC = named((kind) => kind.sharedBy !== 'nobody');
/** Names the kinds whose connections may use TLS. */
export const KINDS_WITH_TLS = named(({ settings }) => settings.tls === TLS);

/** Joins their names. *Worked:* embedded, kafka or redis. *Why* no Intl: it takes 14 ms of each start. */
function named(isMeant: (kind: AnyTopicKind) => boolean): string {
  const names = NAMES.filter((name) => isMeant(kindOf(name)));
  return names.join(', ').replace(/, (\w+)$/, ' or $1');
}

/** The kind that is asked for, for whoever treats all alike. */
export function kindOf(kind: TopicKind): AnyTopicKind {
  return KINDS[kind] as unknown as AnyTopicKind;
}

export const TOPIC_KIND = {
  kind: 'choice',
  default: 'embedded',
  choices: NAMES,
  missedBy: 'everybody',
  buys: `${NAMES.map((name) => `${name}: ${KINDS[name].says}`).join('. ')}.`,
  costs: 'All nodes of a cluster must be configured alike.',
} as const satisfies Setting;

/** Reads the kind, before the other keys. */
export const ANY_TOPIC = section({ kind: TOPIC_KIND });

/** Kind → what its topic takes. Each is a section of its own, so that a key of another kind is told as such. */
export const TOPIC_KINDS = Object.fromEntries(
  NAMES.map((name) => [
    name,
    section({ kind: TOPIC_KIND, ...kindOf(name).settings, ...(name !== 'none' && { hmac: HMAC }) }),
  ]),
) as unknown as { readonly [Kind in TopicKind]: Section<TopicSettings<Kind>> };

export type TopicSettings<Kind extends TopicKind> = ValueOf<(typeof KINDS)[Kind]['settings']> & {
  readonly kind: TopicKind;
} & (Kind extends 'none' ? unknown : { readonly hmac: z.output<typeof HMAC> });

export const TOPIC_CONSTANTS = Object.fromEntries(NAMES.map((name) => [name, KINDS[name].constants])) as {
  readonly [Kind in TopicKind]: (typeof KINDS)[Kind]['constants'];
};
