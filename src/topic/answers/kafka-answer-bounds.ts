import type { AnswerBounds } from './guard-answers.js';
import { MalformedAnswer } from './malformed-answer.js';

const LENGTH_BYTES = 4;
/** Bytes of the request's number, which begins every answer. */
const SHORTEST_ANSWER_BYTES = 4;

/** Finds Kafka's answers: a length of four bytes, then the request's number. */
export class KafkaAnswerBounds implements AnswerBounds {
  readonly #bytesMax: number;
  readonly #isAwaited: (correlationId: number) => boolean;

  /** @param bytesMax more keeps more of a hostile server's bytes in memory */
  constructor(bytesMax: number, isAwaited: (correlationId: number) => boolean) {
    this.#bytesMax = bytesMax;
    this.#isAwaited = isAwaited;
  }

  wholeBytes(bytes: Buffer): number {
    let at = 0;
    while (bytes.length - at >= LENGTH_BYTES) {
      const length = bytes.readInt32BE(at);
      if (length < SHORTEST_ANSWER_BYTES) throw new MalformedAnswer('malformed', `a length of ${length}`);
      if (length > this.#bytesMax) {
        const said = otherSpeech(bytes, at) ?? `a length of ${length}, at most ${this.#bytesMax} are allowed`;
        throw new MalformedAnswer('too-long', said);
      }
      if (bytes.length - at < LENGTH_BYTES + SHORTEST_ANSWER_BYTES) break;
      const correlationId = bytes.readInt32BE(at + LENGTH_BYTES);
      if (!this.#isAwaited(correlationId)) {
        throw new MalformedAnswer('unasked', `nobody waits for an answer to request ${correlationId}`);
      }
      if (bytes.length - at < LENGTH_BYTES + length) break;
      at += LENGTH_BYTES + length;
    }
    return at;
  }
}

/** Names the other protocol that a port speaks; null = unknown. */
function otherSpeech(bytes: Buffer, at: number): string | null {
  const begun = bytes.toString('latin1', at, at + LENGTH_BYTES);
  if (begun.startsWith('\x15\x03')) return 'the port wants TLS: set topic.tls, or name the port without';
  return begun === 'HTTP' ? 'the port speaks HTTP: topic.brokers names another service' : null;
}

/**
 * Refuses a proof of SCRAM that takes too long. *Why:* one of the process' four threads for files and names computes it
 * to its end, which at 2^31 iterations comes after half an hour. Kafka's own have 4,096 and more.
 */
export function checkProof(apiKey: number, answer: Buffer): void {
  if (apiKey !== SASL_AUTHENTICATE) return;
  for (const [, iterations] of answer.toString('latin1').matchAll(/i=\s*\+?(\d+)/g)) {
    if (Number(iterations) <= ITERATIONS_MAX) continue;
    throw new MalformedAnswer(
      'malformed',
      `a proof of ${iterations} iterations, at most ${ITERATIONS_MAX} are allowed`,
    );
  }
}

/** More lets a hostile broker keep a thread for longer; these take some 0.1 s. */
const ITERATIONS_MAX = 100_000;

const SASL_AUTHENTICATE = 36;
const PRODUCE = 0;
const FETCH = 1;
const METADATA = 3;
/** Versions from which an answer's header ends with tags: one byte for none. */
const FLEXIBLE: ReadonlyMap<number, number> = new Map([
  [FETCH, 12],
  [METADATA, 9],
]);
const BYTES = 4;

/** Reads the milliseconds for which a throttling broker is silent; 0 = none. */
export function throttleTimeMs(apiKey: number, apiVersion: number, answer: Buffer): number {
  if (apiKey !== PRODUCE && apiKey !== FETCH && apiKey !== METADATA) return 0;
  const flexibleFrom = FLEXIBLE.get(apiKey) ?? Infinity;
  const at = apiKey === PRODUCE ? answer.length - BYTES : apiVersion >= flexibleFrom ? 1 : 0;
  if (at < 0 || answer.length < at + BYTES) return 0;
  return Math.max(0, answer.readInt32BE(at));
}
