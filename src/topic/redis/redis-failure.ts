import { reasonOf, TopicUnusable } from '../remote/topic-unusable.js';

export function isOtherEpoch(error: unknown): boolean {
  return reasonOf(error).startsWith('EPOCH');
}

/** Tests for a refusal by Redis; the connection still works. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Tests for failures that pass: a replica without writes, a server reading its disk. */
export function isPassing(error: unknown): boolean {
  return /^(READONLY|LOADING|MASTERDOWN|BUSY|UNBLOCKED|NOSCRIPT)\b/.test(reasonOf(error));
}

/** Returns the permanent failure of `error`; null = trying again may help. */
export function redisUnusable(error: unknown, topic: string): TopicUnusable | null {
  if (error instanceof TopicUnusable) return error;
  const reason = reasonOf(error);
  const unusable = (code: 'TOPIC_DENIED' | 'TOPIC_SETTINGS', why: string) => {
    return new TopicUnusable(code, { topic, reason: why }, { cause: error });
  };
  if (DENIED.test(reason) || SCRIPT_DENIED.test(reason)) return unusable('TOPIC_DENIED', reason);
  if (/^ERR (DB index|invalid DB)/i.test(reason)) return unusable('TOPIC_SETTINGS', reason);
  if (/\bunknown (\w+ )?command\b/i.test(reason)) {
    const missing = `the server lacks a command that docs/operate/redis.md names, or has it renamed (${reason})`;
    return unusable('TOPIC_SETTINGS', missing);
  }
  if (!/\bWRONGTYPE\b/.test(reason)) return null;
  const foreign = `one of its keys is not what quotamesh writes (${reason}); delete it, or choose another topic.prefix`;
  return unusable('TOPIC_SETTINGS', foreign);
}

const DENIED = /^(NOAUTH|WRONGPASS|NOPERM)\b|^ERR (invalid password|AUTH )|without any password configured/;
/** Text of Redis 7 for a denied, unnamed command inside a script. */
const SCRIPT_DENIED = /user executing the script can't/i;
