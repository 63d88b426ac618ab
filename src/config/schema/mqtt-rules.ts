import { z } from 'zod';
import {
  addMissingCaptures,
  capturesIn,
  groupTemplate,
  missingCaptures,
  namePattern,
  plainName,
  topicPattern,
} from './rule-patterns.js';

const CAPTURED = 'in which * is anything and {tenant}, {namespace} or another {name} is captured';
const TOPIC = 'levels separated by /; + is any level, {tenant} captures one, # at the end is the rest';
const GROUP =
  'the name of a group or key, or one made of captures, {clientId} and {username}, e.g. "{tenant}/{namespace}" or "key:{clientId}"';
const PLAIN = 'a name without { } or *';

/** Keys by which a rule chooses messages. A rule without any of them matches all messages. */
export const MQTT_MATCHERS = ['clientId', 'username', 'topic'] as const;

/** Names the least that a rule without a group must tell. By the tenant attachments find one. */
const ATTACHED = '{tenant}';

/** Gives messages to a group. Null pattern = everything; null tenant or namespace = not known. */
export const MQTT_RULE = z
  .strictObject({
    clientId: namePattern(`a client id ${CAPTURED}, e.g. "{tenant}-*"`),
    username: namePattern(`a username ${CAPTURED}, e.g. "{tenant}"`),
    topic: topicPattern(`${TOPIC}, e.g. "{tenant}/{namespace}/#"`),
    tenant: plainName(PLAIN),
    namespace: plainName(PLAIN),
    group: groupTemplate(GROUP),
  })
  .superRefine((rule, context) => {
    const said = ['clientId', 'username', ...MQTT_MATCHERS.flatMap((key) => capturesIn(rule[key] ?? ''))];
    for (const key of ['tenant', 'namespace'] as const) if ((rule[key] ?? null) !== null) said.push(key);
    const missing = missingCaptures(rule.group ?? ATTACHED, said);
    addMissingCaptures(context, { missing, allowed: GROUP, matchers: MQTT_MATCHERS });
  })
  .transform(({ clientId = null, username = null, topic = null, tenant = null, namespace = null, group = null }) => {
    return { clientId, username, topic, tenant, namespace, group };
  });

/**
 * If `group` is null, the group `tenant/namespace` counts; if there is none, what tenant and namespace are attached to.
 */
export type MqttRule = Readonly<z.output<typeof MQTT_RULE>>;
