import { expect, test } from 'vitest';
import { admittedRate } from '../../sim/cluster/measure.js';
import { World } from '../../sim/cluster/world.js';
import { type Beat, readBeats } from '../vectors/pulsar-beats.js';
import { GATED, SETTINGS } from './settings.js';

/**
 * A round of Pulsar is a minute, one of ours a second; the rates are multiplied, to a quota of 1000/s, so that
 * a change shows in the counts of a few of our samples.
 */
const QUOTA = 1000;
const ROUND_MS = 1000;
/** Nodes are ready; the start limits of the entry arise when each wants its own for this long. */
const READY_MS = 100;
const PRELUDE_MS = 5000;

/** Strategies that an entry must be won with; the others are compared in docs/reference/accuracy.md. */
const MUST_WIN = ['max-min'];
const beats = readBeats();

/** Admitted per round and living member, in the units of the entry. */
function play(beat: Beat, strategy: string): number[][] {
  const { configured, startLimits, wants, deaths, isSilent, rounds } = beat;
  const scale = QUOTA / configured;
  const quota = { ...GATED.quota, publish: [QUOTA, Infinity] as const };
  const world = new World(82, { ...SETTINGS, groups: [{ ...GATED, strategy, quota }] });
  world.topic.isAway = isSilent;
  const members = startLimits.map((_, member) => `m${member}`);
  for (const member of members) world.start(member);
  world.runFor(READY_MS);
  const hasPrelude = startLimits.reduce((sum, limit) => sum + limit, 0) <= configured;
  const startMs = READY_MS + (hasPrelude ? PRELUDE_MS : 0);
  const roundAt = (nowMs: number) => Math.floor((nowMs - startMs) / ROUND_MS) + 1;
  members.forEach((node, member) => {
    const ratePerSecond = (nowMs: number) =>
      scale * (nowMs < startMs ? startLimits[member] : wants(member, roundAt(nowMs)));
    world.drive({ node, ratePerSecond, evenly: true });
  });
  return Array.from({ length: rounds }, (_, at) => {
    const round = at + 1;
    const fromMs = startMs + at * ROUND_MS;
    world.runFor(fromMs - world.nowMs);
    if (round === deaths?.fromRound) for (const member of deaths.members) world.node(`m${member}`).crash();
    world.runFor(ROUND_MS);
    const isDead = (member: number) => deaths !== null && round >= deaths.fromRound && deaths.members.includes(member);
    const living = members.filter((_node, member) => !isDead(member));
    return living.map((node) => admittedRate(world.arrivals, fromMs, fromMs + ROUND_MS, node) / scale);
  });
}

test.each(beats.flatMap((beat) => MUST_WIN.map((strategy) => ({ ...beat, strategy }))))(
  '$strategy beats Pulsar: $id: $beat',
  ({ strategy, ...beat }) => {
    const admitted = play(beat, strategy);
    const expiryRounds = SETTINGS.stalenessMs / ROUND_MS + 1;
    const shown = admitted.map((round) => round.map(Math.round).join('/')).join(' ');
    console.log(`${strategy}, ${beat.id}: ${shown}`);
    expect(beat.isBeaten(admitted, (beat.deaths?.fromRound ?? 0) + expiryRounds), shown).toBe(true);
  },
);

test('every entry is judged', () => {
  console.log(`pulsar-calculator.json: ${beats.length} runs of baselineToBeat judged for ${MUST_WIN.join(', ')}`);
  expect(beats).toHaveLength(10);
});
