import { PARCEL_BYTES_MAX } from '../remote/outbox.js';
import { AppendRefused, TopicUnusable, typeOf } from '../remote/topic-unusable.js';
import type { Kafkajs, ProtocolError } from './kafkajs-internals.js';
import { type AclOperation, aclCommand, type Grantee, NEEDED_ACLS, type NeededAcl } from './needed-acls.js';

const TOO_LARGE = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE']);

/** Makes the error of a refused produce of so many bytes. */
export function produceRefused(topic: string, error: ProtocolError, bytes: number): AppendRefused {
  const isTooLarge = TOO_LARGE.has(error.type);
  const isOwnFault = isTooLarge && bytes > PARCEL_BYTES_MAX;
  const hint = isTooLarge && !isOwnFault ? '; max.message.bytes is too small, quotamesh doctor has the command' : '';
  return new AppendRefused(topic, error, { hint, isOwnFault });
}

export class NoLeader extends Error {}

/** Marks a log that lost records already read. */
export class LogShortened extends Error {
  readonly partition: number;
  /** Epoch of the leader that reported it; −1 = unknown. */
  readonly leaderEpoch: number;

  constructor(partition: number, leaderEpoch: number) {
    super(`partition ${partition} has lost records that were read`);
    this.partition = partition;
    this.leaderEpoch = leaderEpoch;
  }
}

/** Errors since Kafka 3.1, without names in kafkajs. */
const NEWER_ERRORS = new Map([
  [100, 'UNKNOWN_TOPIC_ID'],
  [103, 'INCONSISTENT_TOPIC_ID'],
]);

const LEADERLESS = new Set([
  ...NEWER_ERRORS.values(),
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'NOT_LEADER_FOR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'UNKNOWN_TOPIC_OR_PARTITION',
  'KAFKA_STORAGE_ERROR',
]);

/** Tests if leadership has moved, so that finding leaders again helps. */
export function isLeaderless(error: unknown): boolean {
  return error instanceof NoLeader || LEADERLESS.has(typeOf(error) ?? '');
}

/** Makes the error of a protocol code. */
export function brokerError(kafkajs: Kafkajs, code: number): ProtocolError {
  const type = NEWER_ERRORS.get(code);
  if (type !== undefined)
    return Object.assign(new Error('the topic is another one than was asked for'), { type, code });
  return kafkajs.createErrorFromCode(code);
}

const UNAUTHENTICATED = new Set(['SASL_AUTHENTICATION_FAILED', 'UNSUPPORTED_SASL_MECHANISM']);
const UNAUTHORIZED = new Set(['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED']);

/** Rights of a principal on a resource. */
export interface TopicAccess {
  readonly topic: string;
  readonly grantee: Grantee;
}

/**
 * Returns the permanent failure of `error`; null = trying again may help. @param operation what Kafka would have had to
 * allow; any = the topic is hidden from a principal without rights
 */
export function kafkaUnusable(
  error: unknown,
  access: TopicAccess,
  operation: AclOperation | 'any',
): TopicUnusable | null {
  if (error instanceof TopicUnusable) return error;
  if (!(error instanceof Error)) return null;
  const { topic } = access;
  const type = typeOf(error) ?? '';
  if (error.name === 'KafkaJSSASLAuthenticationError' || UNAUTHENTICATED.has(type)) {
    return new TopicUnusable('TOPIC_DENIED', { topic, reason: `connecting: ${error.message}` }, { cause: error });
  }
  if (!UNAUTHORIZED.has(type)) return null;
  const missing = NEEDED_ACLS.filter((acl) => (operation === 'any' ? !acl.onlyToCreate : acl.operation === operation));
  return aclMissing(missing, access, error);
}

export function aclMissing(
  missing: readonly NeededAcl[],
  { topic, grantee }: TopicAccess,
  cause: Error | null = null,
): TopicUnusable {
  const operations = missing.map((acl) => acl.operation);
  const facts = {
    topic,
    principal: grantee.principal,
    operation: operations.join(', '),
    to: missing.map(({ to }) => to).join(', '),
    command: aclCommand(operations, [topic], grantee),
  };
  return new TopicUnusable('TOPIC_ACL_MISSING', facts, { cause });
}
