import { waterLevelOf } from '../../convergence/water-level-of.js';
import { FALL_RATIO, HEADROOM_FACTOR, SATURATED_RATIO, UNCHANGED_RATIO } from '../constants.js';

export interface BrokerReading {
  readonly rate: number;
  /** Mean milliseconds of requests in the window; 0 = none waited. */
  readonly throttleMs: number;
}

export interface WaterLevelInput {
  /** Bytes/s of the whole Kafka cluster. */
  readonly quota: number;
  /** Value that every broker enforces; null = none. */
  readonly inForce: number | null;
  /** Readings per sharer and broker, null = unknown. The sharer with the lowest value decides. */
  readonly sharers: readonly (readonly (BrokerReading | null)[])[];
}

/**
 * Computes the value for every broker, whole bytes/s; null = no change. A broker is saturated if a request waited and
 * its rate is above 0.9 of the value; the others want their rate. Throttling alone is no sign: with
 * `quota.window.num=1` it appears at half of the value. Sharers of a default get their lowest value, with headroom only
 * if none of them waits.
 * *Worked:* quota 500: rates 250 (waits), 100 at 250 in force → 400. Rates 400 (waits), 300 at 400 → 250, a fall: 320,
 * then 256, 250: both wait by then. None waits, 100 and 50 → 313: 1.25 times half of the quota, so that a client that
 * wakes has something at once, but not all clients all of it.
 * *Why:* the value falls by at most a fifth per step, because Kafka lets nobody through until its mean is below the
 * value. Changes of up to 1 % are left out.
 */
export function nextWaterLevel({ quota, inForce, sharers }: WaterLevelInput): number | null {
  // A call takes fewer arguments than clients may share a default.
  let [highest, lowest, brokers] = [0, Infinity, 1];
  for (const readings of sharers) {
    highest = Math.max(highest, highestOf(readings));
    lowest = Math.min(lowest, waterLevelFor(readings, quota, inForce));
    brokers = Math.max(brokers, readings.length);
  }
  const headroom = Math.max(quota / brokers, HEADROOM_FACTOR * Math.max(quota / 2, highest));
  const wanted = Math.min(quota, lowest === Infinity ? headroom : lowest);
  // Above quota and rates the value holds nobody back, and falls in one step.
  const least = FALL_RATIO * Math.min(inForce ?? highest, Math.max(quota, highest));
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

/** Kafka takes only values above 0. */
const MIN_BYTES_PER_SECOND = 1;

/** Computes the level; Infinity = all demands fit into the quota. */
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
