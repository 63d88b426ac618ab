import type { Reader } from '../cluster/cluster-under-test.js';
import type { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import type { ArrivalStream, ClientPool, Piece } from './arrival-streams.js';
import { ProfileCursor } from './rate-profile.js';

export type Arrive = (node: number, messages: number, bytes: number, retry: boolean) => boolean;

export type ArrivalBatch = (node: number, messages: number, reader: Reader) => void;

interface Stage {
  /** Virtual or real time. */
  readonly queue: Pick<EventQueue, 'nowMs' | 'at' | 'after'>;
  readonly seed: number;
  readonly arrive: Arrive;
  /** Absent: piece by piece. */
  readonly arriveAsBatch?: ArrivalBatch;
}

/**
 * Plays one stream; first attempts depend on seed and stream alone. Poisson with a changing rate: draw from an
 * exponential of mean 1, and arrive when the rate's integral has grown by that; even arrivals take 1.
 */
export function playStream(stream: ArrivalStream, { queue, seed, arrive, arriveAsBatch }: Stage): void {
  const random = Random.stream(seed, stream.id);
  const retryRandom = Random.stream(seed, `${stream.id} retries`);
  const cursor = new ProfileCursor(stream.profile);
  const { node, piece, evenly, size } = stream;
  const attempt = (bytes: number, left: number, retry: boolean): void => {
    if (arrive(node, piece.messages, bytes, retry) || left === 0) return;
    const waitMs = stream.retryAfterMs * retryRandom.between(0.5, 1.5);
    queue.after(waitMs, () => attempt(bytes, left - 1, true));
  };
  const pieceComes = () => {
    if (stream.reader !== null && arriveAsBatch !== undefined) arriveAsBatch(node, size, stream.reader);
    else for (let at = 0; at < size; at++) attempt(bytesOf(piece, random), stream.retries, false);
    plan();
  };
  let atMs = Math.min(0, stream.profile.atMs[0] ?? 0);
  const plan = () => {
    let due = evenly ? size : random.exponential(1);
    for (;;) {
      const perMs = cursor.rateAt(atMs) / 1000;
      const untilMs = cursor.nextChangeMs;
      if (due <= perMs * (untilMs - atMs)) break;
      if (untilMs === Infinity) return;
      due -= perMs * (untilMs - atMs);
      atMs = untilMs;
    }
    atMs += due / (cursor.rateAt(atMs) / 1000);
    queue.at(atMs, pieceComes);
  };
  plan();
}

/** Plays clients with a stream each: answers to one change no other. */
export function playClients(pool: ClientPool, { queue, seed, arrive }: Stage): void {
  const { node, piece, untilMs } = pool;
  for (let index = 0; index < pool.count; index++) {
    const random = Random.stream(seed, `${pool.id} client ${index}`);
    let bytes = 0;
    let retry = false;
    const attempt = () => {
      if (queue.nowMs >= untilMs) return;
      if (!retry) bytes = bytesOf(piece, random);
      const admitted = arrive(node, piece.messages, bytes, retry);
      retry = !admitted;
      queue.after(admitted ? random.exponential(pool.thinkMs) : pool.retryMs * random.between(0.8, 1.2), attempt);
    };
    queue.at(pool.fromMs + random.exponential(pool.thinkMs), attempt);
  }
}

function bytesOf({ leastBytes, mostBytes }: Piece, random: Random): number {
  return leastBytes === mostBytes ? leastBytes : Math.round(random.between(leastBytes, mostBytes));
}
