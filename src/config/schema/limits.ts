import { section } from '../setting/section.js';

/** Bounds rates: as doubles, larger sums would lose whole units after hours. */
export const RATE_MAX = 1e15;

export const RATE = { kind: 'rate', min: 0, max: RATE_MAX } as const;

/** Completes every row of an optional rate. */
export const LIMIT = {
  default: null,
  defaultText: 'unlimited',
  min: 0,
  max: RATE_MAX,
  isWritten: true,
  remedy: 'Remove the key for "unlimited" or use 0 to block.',
} as const;

const LIMITED = {
  ...LIMIT,
  missedBy: 'a node, topic or client weaker than its share',
  buys: 'More per second for the whole node (`limits`), for one topic or for one client of a group on this node, whatever the share. 0 blocks; without a value there is no such limit.',
  costs: 'Load on what the limit protects.',
} as const;
const DIRECTION = section({
  messagesPerSecond: { kind: 'rate', ...LIMITED },
  bytesPerSecond: { kind: 'byte-rate', ...LIMITED },
});

/** Limits of this node alone. Other nodes neither know nor share them. */
export const NODE_LIMITS = section({
  publish: DIRECTION,
  dispatch: DIRECTION,
  maxReservations: {
    kind: 'count',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    missedBy: 'many long calls',
    buys: 'More reservations over HTTP that are neither committed nor cancelled yet; beyond it they are refused with 503.',
    costs: 'About 1 KB each.',
  },
  maxWaiting: {
    kind: 'count',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    missedBy: 'many callers that wait',
    buys: 'More acquires wait in this process at once; beyond it they are refused with WAITING_FULL.',
    costs: '1.5 KB each, 2.5 KB with a signal; over HTTP 21 KB.',
  },
  reservationMs: {
    kind: 'duration',
    default: 60_000,
    min: 100,
    max: 86_400_000,
    missedBy: 'calls longer than a minute (language models)',
    buys: 'More time to commit or cancel a reservation over HTTP, for work that takes longer; then it is charged as estimated.',
    costs: 'The reservations of a client that died are missing as long.',
  },
});

/** Below `perTopic` and `perClient` of a group. */
export function keyedLimits<const Max extends number>(what: string, max: Max) {
  return section({
    publish: DIRECTION,
    dispatch: DIRECTION,
    max: {
      kind: 'count',
      default: max,
      min: 1,
      max: 1_000_000,
      missedBy: 'more topics or clients at once',
      buys: `More ${what}s of a group in use at once on this node, per direction; beyond it acquires are refused with 503.`,
      costs: `About 200 bytes per ${what} until it has been idle for ten seconds.`,
    },
  });
}
