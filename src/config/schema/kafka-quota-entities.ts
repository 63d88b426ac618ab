import { z } from 'zod';
import { told } from '../../base/input/input-mistakes.js';
import { addMissingCaptures, capturesIn, groupTemplate, missingCaptures, namePattern } from './rule-patterns.js';

const NAME = 'in which * is anything and {id} or another {name} is captured, or "<default>"';
const GROUP = 'the name of a group, or one made of captures, e.g. "client:{id}"';

/** Keys by which an entity is named. */
export const ENTITY_MATCHERS = ['user', 'clientId'] as const;

/** Lets the quota of a Kafka entity follow a group. A null name is no part of the entity. */
export const KAFKA_QUOTA_ENTITY = z
  .strictObject({
    user: namePattern(`a user ${NAME}`),
    clientId: namePattern(`a client id ${NAME}`),
    group: groupTemplate(GROUP),
  })
  .superRefine((rule, context) => {
    const says = (path: string, message: string, params: { allowed: string; remedy: string }) => {
      context.addIssue({ code: 'custom', path: [path], message, params });
    };
    if ((rule.user ?? null) === null && (rule.clientId ?? null) === null) {
      says('clientId', 'or user must be given', {
        allowed: 'user, clientId, or both',
        remedy: 'For everybody who has no quota write `clientId: "<default>"`.',
      });
    }
    if ((rule.group ?? null) === null) says('group', 'is missing', { allowed: GROUP, remedy: `Add it: ${GROUP}.` });
    const captured = ENTITY_MATCHERS.flatMap((key) => capturesIn(rule[key] ?? ''));
    const missing = missingCaptures(rule.group ?? '', captured);
    addMissingCaptures(context, { missing, allowed: GROUP, matchers: ENTITY_MATCHERS });
  })
  .transform(({ user = null, clientId = null, group }) => ({ user, clientId, group: group ?? '' }));

export type KafkaQuotaEntity = Readonly<z.output<typeof KAFKA_QUOTA_ENTITY>>;

export const EXPORTER_URL = told(
  z
    .string()
    .max(2000)
    .refine((url) => /^https?:/.test(url) && URL.canParse(url) && new URL(url).username + new URL(url).password === ''),
  'an http or https address without credentials, e.g. http://kafka-1:7071/metrics',
);
