import { section } from '../setting/section.js';

/** Sums of larger rates would lose whole units after some hours, as they are doubles. */
export const RATE_MAX = 1e15;

/** What all rows of optional rates have in common. */
export const LIMIT = {
  default: null,
  defaultText: 'unlimited',
  min: 0,
  max: RATE_MAX,
  isWritten: true,
  remedy: 'Remove the key for "unlimited" or use 0 to block.',
} as const;

/** Limits of this node alone. Other nodes neither know nor share them. */
export const NODE_LIMITS = section({
  ...directionLimits('the whole node, all groups together,'),
  maxReservations: {
    kind: 'count',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    buys: 'More reservations over HTTP that are neither committed nor cancelled yet; beyond it they are refused with 503.',
    costs: 'About 1 KB each.',
  },
});

/** Below `perTopic` and `perClient` of a group. */
export function keyedLimits<const Max extends number>(what: string, max: Max) {
  return section({
    ...directionLimits(`one ${what} of the group, on this node,`),
    max: {
      kind: 'count',
      default: max,
      min: 1,
      max: 1_000_000,
      buys: `More ${what}s of a group in use at once on this node, per direction; beyond it acquires are refused with 503.`,
      costs: `About 200 bytes per ${what} until it has been idle for ten seconds.`,
    },
  });
}

/** A function declaration, because the sections above are made when this module is loaded. */
function directionLimits(what: string) {
  const direction = (verb: string) =>
    section({
      messagesPerSecond: { kind: 'rate', ...limit(`${verb} messages`) },
      bytesPerSecond: { kind: 'byte-rate', ...limit(`${verb} bytes`) },
    });
  const limit = (work: string) => ({
    ...LIMIT,
    buys: `More ${work} per second for ${what} whatever its share. 0 blocks; without a value there is no such limit.`,
    costs: 'Load on what the limit protects.',
  });
  return { publish: direction('published'), dispatch: direction('dispatched') };
}
