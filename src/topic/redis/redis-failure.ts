import { reasonOf, TopicUnusable } from '../remote/topic-unusable.js';

/** The log is not the one that was opened; it has to be opened again. */
export function isOtherEpoch(error: unknown): boolean {
  return reasonOf(error).startsWith('EPOCH');
}

/** Redis has answered with a refusal; the connection still works. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}

/** Passes by itself: a replica that takes no writes, a server that still reads its disk. A new connection may work. */
export function isPassing(error: unknown): boolean {
  return /^(READONLY|LOADING|MASTERDOWN|BUSY|UNBLOCKED|NOSCRIPT)\b/.test(reasonOf(error));
}

/** The permanent failure that `error` means, or null when trying again may help. */
export function redisUnusable(error: unknown, topic: string): TopicUnusable | null {
  if (error instanceof TopicUnusable) return error;
  const reason = reasonOf(error);
  const cause = { cause: error };
  if (DENIED.test(reason) || SCRIPT_DENIED.test(reason)) {
    return new TopicUnusable('TOPIC_DENIED', { topic, reason }, cause);
  }
  if (/^ERR (DB index|unknown command|invalid DB)/i.test(reason)) {
    return new TopicUnusable('TOPIC_SETTINGS', { topic, reason }, cause);
  }
  if (/\bWRONGTYPE\b/.test(reason)) {
    const foreign = `one of its keys is not what quotamesh writes (${reason}); delete it, or choose another topic.prefix`;
    return new TopicUnusable('TOPIC_SETTINGS', { topic, reason: foreign }, cause);
  }
  return null;
}

const DENIED = /^(NOAUTH|WRONGPASS|NOPERM)\b|^ERR (invalid password|AUTH )|without any password configured/;
/** Redis 7 says ERR of a command inside of a script, and does not name it. */
const SCRIPT_DENIED = /user executing the script can't/i;
