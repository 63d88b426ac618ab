import { waterLevelOf } from '../../convergence/water-level-of.js';

/** What one broker says of one entity: the mean of its window. */
export interface BrokerReading {
  /** Bytes per second. */
  readonly rate: number;
  /** Mean of the requests in the window; 0 = nobody had to wait. */
  readonly throttleMs: number;
}

export interface WaterLevelInput {
  /** What the whole Kafka cluster may have, bytes per second. */
  readonly quota: number;
  /** What every broker enforces now; null = nothing. */
  readonly inForce: number | null;
  /**
   * Who shares the quota: for each, a reading per broker, null where nobody knows what happens there. Several share
   * where an entity is a default: each of them may have the quota, and the one that needs the lowest value decides.
   */
  readonly sharers: readonly (readonly (BrokerReading | null)[])[];
}

/**
 * The value that every broker shall enforce, whole bytes per second; null = what is in force stays.
 *
 * A broker is saturated where somebody had to wait and its rate is above 0.9 of the value; how much more it wants need
 * not be known. The others want what they have. Throttling alone is no sign: with `quota.window.num=1` it is above 0
 * (27 ms) at half of the value, too.
 *
 * Where several share a default, the lowest of their values is taken, and the headroom only where nobody of them waits:
 * a client that is idle holds nobody down.
 *
 * Worked, quota 500: rates 250 (waits) and 100 at 250 in force → 400. Rates 400 (waits) and 300 → (500 − 300) ÷ 1 =
 * 200, which is a fall: 320, then 256, 250: both wait by then. Nobody waits, rates 100 and 50 → 312: 1.25 times half
 * of the quota, so that whoever wakes has something at once, and not all of them all of it.
 *
 * It falls by a fifth per step at most: what has come in is above the new value, and Kafka lets nobody through until
 * the mean is below it. A cut to a quarter at once was 3 to 6 s of silence. Changes of up to 1 % are left out.
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
  // Above the quota and all rates a value holds nobody back: it comes down to them in one step.
  const least = FALL * Math.min(inForce ?? highest, Math.max(quota, highest));
  const next = Math.max(MIN_BYTES_PER_SECOND, Math.round(Math.max(wanted, least)));
  if (inForce !== null && Math.abs(next - inForce) <= UNCHANGED_RATIO * inForce) {
    // The last step of a way down ends at the quota itself, and not within 1 % above it.
    return next < inForce && inForce > quota ? next : null;
  }
  return next;
}

export function isSaturated(reading: BrokerReading | null, inForce: number | null): boolean {
  if (reading === null) return true;
  return inForce !== null && reading.throttleMs > 0 && reading.rate > SATURATED_RATIO * inForce;
}

/** The least part of the value that one step leaves. */
export const FALL = 0.8;
const SATURATED_RATIO = 0.9;
const UNCHANGED_RATIO = 0.01;
const HEADROOM = 1.25;
/** What Kafka takes must be above 0. */
const MIN_BYTES_PER_SECOND = 1;

/** Infinity where all brokers together have less than the quota, and nobody waits. */
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
