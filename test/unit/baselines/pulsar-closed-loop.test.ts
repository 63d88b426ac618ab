import { expect, test } from 'vitest';
import { asForked, asReleased } from '../../../sim/baselines/pulsar/quota-calculator.js';
import { type Beat, readBeats, total } from '../../vectors/pulsar-beats.js';

const beats = readBeats();

/** A member admits min(demand, limit) and reports it, all recalculate at once; the dead stay in everybody's map. */
function admittedOf({ variant, configured, startLimits, wants, deaths, isSilent, rounds }: Beat): number[][] {
  const calculate = variant === 'fork' ? asForked : asReleased;
  let limits = [...startLimits];
  const reports = limits.map(() => 0);
  const admitted: number[][] = [];
  for (let round = 1; round <= rounds; round++) {
    const isDead = (member: number) => deaths !== null && round >= deaths.fromRound && deaths.members.includes(member);
    const living = limits.map((_, member) => member).filter((member) => !isDead(member));
    for (const member of living) reports[member] = Math.min(wants(member, round), limits[member]);
    admitted.push(living.map((member) => reports[member]));
    if (isSilent) continue;
    limits = reports.map((own) =>
      Number(calculate({ configured, own, total: total(reports), periodSec: 60, threshold: 0 })),
    );
  }
  return admitted;
}

test.each(beats)('Pulsar in rounds: $id', (beat) => {
  const admitted = admittedOf(beat);
  if (beat.admittedPerRound !== undefined) expect(admitted).toEqual(beat.admittedPerRound);
  if (beat.finalAdmitted !== undefined) expect(admitted.at(-1)).toEqual(beat.finalAdmitted);
  if (beat.finalTotal !== undefined) expect(total(admitted.at(-1) ?? [])).toBe(beat.finalTotal);
  // What is asked of us is more than Pulsar does; only then is it worth beating.
  expect(beat.isBeaten(admitted, (beat.deaths?.fromRound ?? 0) + 10)).toBe(false);
});

test('every entry of the file is run and expects something', () => {
  const judged = beats.filter((beat) => beat.finalAdmitted !== undefined || beat.finalTotal !== undefined);
  console.log(`pulsar-calculator.json: ${judged.length} runs of baselineToBeat by the formulas`);
  expect(judged).toHaveLength(10);
});
