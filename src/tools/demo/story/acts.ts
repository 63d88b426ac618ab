import type { SystemTally } from './system.js';

/** Requests/s at each node, and for how long. */
export interface Stretch {
  readonly forMs: number;
  readonly perSecond: readonly number[];
  /** Requests at one instant at one node, as the stretch begins. */
  readonly atOnce?: { readonly node: number; readonly requests: number };
}

/** Event in the cluster while traffic goes on. */
export interface Happening {
  readonly kind: 'kill' | 'start' | 'halve';
  readonly atMs: number;
}

export interface Act {
  readonly title: string;
  readonly says: readonly string[];
  readonly stretches: readonly Stretch[];
  readonly happening: Happening | null;
  readonly figure: ActFigure;
  /** Reason for a static split's figure. */
  readonly staticBecause: string;
}

/** Figure of an act, and its bound. */
interface ActFigure {
  readonly counts: string;
  of(tally: SystemTally): number;
  /** Bound in words. */
  readonly good: string;
  isGood(ours: SystemTally, central: SystemTally): boolean;
}

export const STORY_QUOTA = 300;
export const STORY_BURST = 150;
/** Node that is killed; not the one whose address was printed. */
export const VICTIM = 1;

/** Returns the acts for at least two nodes. */
export function actsFor(nodes: number): readonly Act[] {
  return [...actsOfDemand(nodes), ...actsOfTrouble(nodes)];
}

/** Returns acts of changing demand. */
function actsOfDemand(nodes: number): readonly Act[] {
  const each = (perSecond: number) => new Array<number>(nodes).fill(perSecond);
  const busy = (node: number) => each(QUIET).with(node, BUSY);
  const part = PARTS[nodes] ?? `1/${nodes}`;
  return [
    {
      title: 'A quiet start',
      says: [`${QUIET + 40} requests per second at node A, ${QUIET} at each other: all of them far below the quota.`],
      stretches: [{ forMs: 6000, perSecond: each(QUIET).with(0, QUIET + 40) }],
      happening: null,
      figure: AT_ONCE,
      staticBecause: 'its part is enough for each node, too',
    },
    {
      title: 'A burst at one node',
      says: [
        `Nobody asks for a second; then ${STORY_BURST} requests come to node B at one instant.`,
        `The quota allows a burst of ${STORY_BURST} in the whole cluster.`,
      ],
      stretches: [
        { forMs: 1000, perSecond: each(0) },
        { forMs: 1000, perSecond: each(0), atOnce: { node: VICTIM, requests: STORY_BURST } },
      ],
      happening: null,
      figure: AT_ONCE,
      staticBecause: `node B has ${part} of the burst, whatever the others leave`,
    },
    {
      title: 'Demand moves',
      says: [
        `${BUSY} requests per second at node A and ${QUIET} at each other; after 6 s they want it at the last node.`,
      ],
      stretches: [
        { forMs: 6000, perSecond: busy(0) },
        { forMs: 6000, perSecond: busy(nodes - 1) },
      ],
      happening: null,
      figure: ADMITTED,
      staticBecause: `the busy node has ${part} of the quota, and what the others leave is lost`,
    },
  ];
}

/** Returns acts of even excess demand and an event. */
function actsOfTrouble(nodes: number): readonly Act[] {
  const perSecond = new Array<number>(nodes).fill(CROWD / nodes);
  const crowd = { forMs: 12_000, perSecond };
  return [
    {
      title: 'A node dies',
      says: [
        `All nodes together are asked for ${CROWD} per second. After 2 s node B is killed with -9; its clients go to the`,
        'others, which hear nothing of it: its part of the quota comes free after 5 s of silence.',
      ],
      stretches: [crowd],
      happening: { kind: 'kill', atMs: 2000 },
      figure: WITHOUT_ONE,
      staticBecause: 'the part of the dead node is lost until somebody divides anew',
    },
    {
      title: 'It comes back',
      says: [
        'The same traffic. After 2 s node B is started again, and when it is ready a part of the clients returns.',
      ],
      stretches: [crowd],
      happening: { kind: 'start', atMs: 2000 },
      figure: ADMITTED,
      staticBecause: 'whole again only when the node is',
    },
    {
      title: 'The quota is halved',
      says: [`The same traffic. After 3 s one call to one node makes the quota ${STORY_QUOTA / 2} per second.`],
      stretches: [{ ...crowd, forMs: 10_000 }],
      happening: { kind: 'halve', atMs: 3000 },
      figure: NOT_MORE,
      staticBecause: 'counted as if every node were configured anew at the same instant',
    },
  ];
}

const QUIET = 10;
/** Demand a tenth above the quota: one node wants all of it. */
const BUSY = 1.1 * STORY_QUOTA;
const CROWD = 1.2 * STORY_QUOTA;
const PARTS: Readonly<Record<number, string>> = { 2: 'half', 3: 'a third', 4: 'a quarter', 5: 'a fifth' };

const AT_ONCE: ActFigure = {
  counts: 'requests that were granted at the first ask',
  of: ({ atOnce }) => atOnce,
  good: 'at least 95 % of all requests',
  isGood: ({ atOnce, asked }) => atOnce >= 0.95 * asked,
};

const ADMITTED: ActFigure = {
  counts: 'requests that were granted within 2 s',
  of: ({ admitted }) => admitted,
  good: '95 to 102 % of one central bucket',
  isGood: (ours, central) => ours.admitted >= 0.95 * central.admitted && ours.admitted <= 1.02 * central.admitted,
};

const WITHOUT_ONE: ActFigure = {
  ...ADMITTED,
  good: '85 to 102 % of one central bucket, since nobody knows of the death for 5 s',
  isGood: (ours, central) => ours.admitted >= 0.85 * central.admitted && ours.admitted <= 1.02 * central.admitted,
};

const NOT_MORE: ActFigure = {
  ...ADMITTED,
  good: 'not above 105 % of one central bucket, and not below 90 %',
  isGood: (ours, central) => ours.admitted <= 1.05 * central.admitted && ours.admitted >= 0.9 * central.admitted,
};
