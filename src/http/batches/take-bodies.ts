import { rejectUnlessAmount, rejectUnlessBetween } from '../../admission/request/request-checks.js';
import type { HandBack } from '../../api/decision.js';
import { BULK_MAX, HTTP_WAIT_MS_MAX, WHERE } from '../acquire/acquire-schema.js';
import { invalid, knownMappingIn } from '../route/described-route.js';
import { HAND_BACK_BODY, TAKE_BODY, type TakeBody } from './take-schemas.js';

/** The body of POST /v1/take. What the library checks (amounts, names, direction) is left to it. */
export function takeIn(given: unknown): TakeBody {
  const body = knownMappingIn(given, '', TAKE_FIELDS);
  const { group, all, retry, waitMs = 0, messages, bytes } = body;
  const namesScope = group === undefined && WHERE.some((field) => body[field] !== undefined);
  if (!namesScope && (typeof group !== 'string' || group === '')) {
    invalid(
      'group',
      'must be the name of a group, or absent where tenant, namespace, topic, client or headers are given',
    );
  }
  if (all !== undefined && all !== true) invalid('all', 'must be true, or absent');
  if (all === true && (messages ?? bytes) !== undefined) invalid('all', 'excludes messages and bytes');
  if (retry !== undefined && typeof retry !== 'boolean') invalid('retry', 'must be true or false');
  rejectUnlessBetween('waitMs', waitMs, 0, HTTP_WAIT_MS_MAX);
  return body as unknown as TakeBody;
}

export function handBackIn(given: unknown, where: string): HandBack & { readonly id: string } {
  const body = knownMappingIn(given, where, HAND_BACK_FIELDS);
  const { id, messages = 0, bytes = 0, dropped = {} } = body;
  if (typeof id !== 'string') invalid(`${where}id`, 'must be the id of the answer to POST /v1/take');
  rejectUnlessAmount(`${where}messages`, messages);
  rejectUnlessAmount(`${where}bytes`, bytes);
  const droppedAt = `${where}dropped.`;
  const amounts = knownMappingIn(dropped, droppedAt, ['messages', 'bytes']);
  rejectUnlessAmount(`${droppedAt}messages`, amounts.messages ?? 0);
  rejectUnlessAmount(`${droppedAt}bytes`, amounts.bytes ?? 0);
  return body as unknown as HandBack & { readonly id: string };
}

export function handBacksIn(given: unknown): readonly unknown[] {
  const { handBacks } = knownMappingIn(given, '', ['handBacks']);
  if (Array.isArray(handBacks) && handBacks.length >= 1 && handBacks.length <= BULK_MAX) return handBacks;
  return invalid('handBacks', `must be an array of 1 to ${BULK_MAX} hand-backs`);
}

const TAKE_FIELDS = Object.keys(TAKE_BODY.properties);
const HAND_BACK_FIELDS = Object.keys(HAND_BACK_BODY.properties);
