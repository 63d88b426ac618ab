import type { z } from 'zod';
import { section } from '../setting/section.js';
import { HMAC } from './hmac.js';
import { REDIS_TOPIC } from './redis.js';
import { EMBEDDED_TOPIC, KAFKA_TOPIC, MEMORY_TOPIC, NO_TOPIC, TOPIC_KIND } from './topic.js';

export type TopicKind = (typeof TOPIC_KIND.choices)[number];

/** What can be read before the kind is known. */
export const ANY_TOPIC = section({ kind: TOPIC_KIND });

/** Kind → what its topic takes. Each is a section of its own, so that a key of another kind is told as such. */
export const TOPIC_KINDS = {
  none: section({ kind: TOPIC_KIND, ...NO_TOPIC }),
  memory: section({ kind: TOPIC_KIND, ...MEMORY_TOPIC, hmac: HMAC }),
  embedded: section({ kind: TOPIC_KIND, ...EMBEDDED_TOPIC, hmac: HMAC }),
  kafka: section({ kind: TOPIC_KIND, ...KAFKA_TOPIC, hmac: HMAC }),
  redis: section({ kind: TOPIC_KIND, ...REDIS_TOPIC, hmac: HMAC }),
} as const satisfies Readonly<Record<TopicKind, z.ZodType>>;

/** What was read for a topic of this kind. */
export type TopicSettings<Kind extends TopicKind> = z.output<(typeof TOPIC_KINDS)[Kind]>;
