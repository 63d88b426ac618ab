import { waterLevelOf } from '../../convergence/water-level-of.js';

export interface BrokerReading {
  readonly rate: number;
  /** Mean milliseconds of requests in the window; 0 = nobody waited. */
  readonly throttleMs: number;
}

export interface WaterLevelInput {
  /** Bytes/s of the whole Kafka cluster. */
  readonly quota: number;
  /** Value that every broker enforces; null = none. */
  readonly inForce: number | null;
  /** Readings per sharer and broker, null = unknown; the sharer with the lowest value decides. */
  readonly sharers: readonly (readonly (BrokerReading | null)[])[];
}

/**
 * Computes the value for every broker, whole bytes/s; null = the one in force stays. A broker is saturated where
 * somebody waited and its rate is above 0.9 of the value; the others want what they have. Throttling alone is no sign:
 * with `quota.window.num=1` it appears at half of the value. Sharers of a default get their lowest value, with headroom
 * only where none waits. *Worked:* quota 500: rates 250 (waits), 100 at 250 in force → 400. Rates 400 (waits), 300 →
 * (500 − 300) ÷ 1 = 200, a fall: 320, then 256, 250: both wait by then. Nobody waits, 100 and 50 → 312: 1.25 times half
 * of the quota, so that whoever wakes has something at once, and not all of them all of it. It falls by at most a fifth
 * per step, as Kafka lets nobody through until its mean is below the value; a cut to a quarter is 3 to 6 s of silence.
 * Changes of up to 1 % are left out.
 */
export function nextWaterLevel({ quota, inForce, sharers }: WaterLevelInput): number | null {
  // More clients may share a default than a call takes arguments.
  let [highest, lowest, brokers] = [0, Infinity, 1];
  for (const readings of sharers) {
    highest = Math.max(highest, highestOf(readings));
    lowest = Math.min(lowest, waterLevelFor(readings, quota, inForce));
    brokers = Math.max(brokers, readings.length);
  }
  const headroom = Math.max(quota / brokers, HEADROOM * Math.max(quota / 2, highest));
  const wanted = Math.min(quota, lowest === Infinity ? headroom : lowest);
  // Above quota and rates it holds nobody back, and falls in one step.
  const least = FALL * Math.min(inForce ?? highest, Math.max(quota, highest));
  const next = Math.max(MIN_BYTES_PER_SECOND, Math.round(Math.max(wanted, least)));
  if (inForce !== null && Math.abs(next - inForce) <= UNCHANGED_RATIO * inForce) {
    // The last step down ends at the quota itself, not within 1 % above.
    return next < inForce && inForce > quota ? next : null;
  }
  return next;
}

export function isSaturated(reading: BrokerReading | null, inForce: number | null): boolean {
  if (reading === null) return true;
  return inForce !== null && reading.throttleMs > 0 && reading.rate > SATURATED_RATIO * inForce;
}

/** Least part of the value after one step. */
export const FALL = 0.8;
const SATURATED_RATIO = 0.9;
const UNCHANGED_RATIO = 0.01;
const HEADROOM = 1.25;
/** Kafka takes only values above 0. */
const MIN_BYTES_PER_SECOND = 1;

/** Computes the level; Infinity = all brokers have less than the quota, and nobody waits. */
function waterLevelFor(readings: readonly (BrokerReading | null)[], quota: number, inForce: number | null): number {
  const demands = readings.map((reading) =>
    reading === null || isSaturated(reading, inForce) ? Infinity : reading.rate,
  );
  return waterLevelOf(demands, quota);
}

function highestOf(readings: readonly (BrokerReading | null)[]): number {
  let highest = 0;
  for (const reading of readings) highest = Math.max(highest, reading?.rate ?? 0);
  return highest;
}
