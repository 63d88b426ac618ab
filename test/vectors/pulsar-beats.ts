import { readVectors } from './read-vectors.js';

/** An entry of `baselineToBeat.runs` of pulsar-calculator.json: what Pulsar does, and what is asked of us. */
export interface BeatEntry {
  readonly id: string;
  readonly variant: 'upstream' | 'fork';
  readonly configured: number;
  readonly startLimits?: readonly number[];
  readonly members?: number;
  readonly demand: string;
  readonly admittedPerRound?: readonly (readonly number[])[];
  readonly finalAdmitted?: readonly number[];
  readonly finalTotal?: number;
  readonly beat: string;
}

/** An entry in a form that a system can be played through, in rounds that count from 1. */
export interface Beat extends BeatEntry {
  readonly startLimits: readonly number[];
  readonly rounds: number;
  /** What a member wants per round, in units of the quota. */
  readonly wants: (member: number, round: number) => number;
  /** From this round on these members are dead. */
  readonly deaths: { readonly fromRound: number; readonly members: readonly number[] } | null;
  /** Members cannot tell each other anything. */
  readonly isSilent: boolean;
  /**
   * Asserted by the text of `beat`: rounds → members → admitted, and from which round on a dead member has expired.
   */
  readonly isBeaten: (admitted: readonly (readonly number[])[], expiredFromRound: number) => boolean;
}

const MUCH = 200;
const DEATH_ROUND = 6;

type Play = Partial<Pick<Beat, 'wants' | 'deaths' | 'isSilent' | 'rounds'>> & Pick<Beat, 'isBeaten'>;

/** The second member is away for three rounds, then wants much. */
function idleSecond(firstWants: number): Beat['wants'] {
  return (member, round) => {
    if (member === 0) return firstWants;
    return round <= 3 ? 0 : MUCH;
  };
}

function endsNear(fair: number): Beat['isBeaten'] {
  return (admitted) => last(admitted).every((rate) => Math.abs(rate / fair - 1) <= 0.1);
}

function totalAfterExpiry(least: number): Beat['isBeaten'] {
  return (admitted, expiredFromRound) => {
    const after = admitted.slice(expiredFromRound - 1);
    return after.length > 0 && after.every((round) => total(round) >= least);
  };
}

/** The words of the file in numbers, by the id and the exact text: a changed file is not judged by old numbers. */
const PLAYS: Readonly<Record<string, Play & { readonly demand: string; readonly beat: string }>> = {
  '80-20-both-saturated': {
    demand: 'both far above the limit',
    beat: 'converge to 50/50 within 10 %',
    isBeaten: endsNear(50),
  },
  'dip-and-return': {
    demand: 'second member dips to 10 in rounds 3-5, then wants 200',
    beat: 'return to 50/50 within 10 %',
    wants: (member, round) => (member === 1 && round >= 3 && round <= 5 ? 10 : MUCH),
    isBeaten: endsNear(50),
  },
  'idle-then-return-saturated': {
    demand: 'second member idle for 3 rounds, then wants 200; first always wants 200',
    beat: 'reach 50/50 within 10 %',
    wants: idleSecond(MUCH),
    isBeaten: endsNear(50),
  },
  'idle-then-return-60': {
    demand: 'first wants 60, second idle for 3 rounds, then wants 200',
    beat: 'second member reaches at least 36',
    wants: idleSecond(60),
    isBeaten: (admitted) => last(admitted)[1] >= 36,
  },
  'idle-then-return-20': {
    demand: 'first wants 20, second idle for 3 rounds, then wants 200',
    beat: 'second member reaches at least 72 in fewer than 7 rounds after its return',
    wants: idleSecond(20),
    // Pulsar is there in its sixth round, which is fewer than seven already: five are asked for.
    isBeaten: (admitted) => admitted.slice(3, 3 + 5).some(([, second]) => second >= 72),
  },
  'idle-then-return-saturated-fork': {
    demand: 'as above with the fork formula',
    beat: 'no round above 110 in total',
    wants: idleSecond(MUCH),
    isBeaten: (admitted) => admitted.every((round) => total(round) <= 110),
  },
  'cold-start-5': {
    demand: 'five members start together, all saturated',
    beat: 'first round at most 110 in total',
    isBeaten: ([first = []]) => total(first) <= 110,
  },
  'dead-member-keeps-its-share': {
    demand: 'both saturated; one dies; its last report is never removed',
    beat: 'survivor reaches at least 90 after the expiry time',
    deaths: { fromRound: DEATH_ROUND, members: [1] },
    rounds: 14,
    isBeaten: totalAfterExpiry(90),
  },
  'three-of-ten-die': {
    demand: 'ten saturated members, three die',
    beat: 'survivors reach at least 900 in total after the expiry time',
    deaths: { fromRound: DEATH_ROUND, members: [7, 8, 9] },
    rounds: 14,
    isBeaten: totalAfterExpiry(900),
  },
  'reports-switched-off': {
    demand: 'transport not configured (default): every member enforces the whole limit',
    beat: 'refuse to start or divide by a configured member count',
    isSilent: true,
    isBeaten: (admitted) => admitted.every((round) => total(round) <= 100),
  },
};

/** All entries; one that is not known, or whose words changed, is an error. */
export function readBeats(): Beat[] {
  const file = readVectors<{ readonly baselineToBeat: { readonly runs: readonly BeatEntry[] } }>(
    'pulsar-calculator.json',
  );
  return file.baselineToBeat.runs.map((entry) => {
    const play = PLAYS[entry.id];
    if (play === undefined) throw new Error(`pulsar-calculator.json: unknown entry "${entry.id}" to beat`);
    if (play.demand !== entry.demand || play.beat !== entry.beat) {
      throw new Error(`pulsar-calculator.json: the words of "${entry.id}" are not those that are judged here`);
    }
    const startLimits = entry.startLimits ?? Array.from({ length: entry.members ?? 0 }, () => entry.configured);
    const rounds = play.rounds ?? entry.admittedPerRound?.length ?? 12;
    return { wants: () => MUCH, deaths: null, isSilent: false, ...play, ...entry, startLimits, rounds };
  });
}

export function total(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0);
}

function last(admitted: readonly (readonly number[])[]): readonly number[] {
  return admitted.at(-1) ?? [];
}
