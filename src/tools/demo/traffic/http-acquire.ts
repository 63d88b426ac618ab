import type { Outcome } from '../../load/call.js';
import { NodeConnections } from '../../load/node-connections.js';
import type { Answer, Work } from './node-clients.js';

/** A node that does not answer within this time counts as gone for the moment. */
const PATIENCE_MS = 1000;
const UNREACHABLE_RETRY_MS = 100;

/** Asks a node over its public API, `POST /v1/acquire`. */
export function httpAcquire(
  url: string,
  group: string,
  onAnswered: (tookMs: number) => void,
): (work: Work) => Promise<Answer> {
  const connections = new NodeConnections(url, PATIENCE_MS);
  return ({ bytes, refusedBefore }) => {
    const sentMs = performance.now();
    return new Promise((resolve) => {
      connections.acquire({ group, messages: 1, bytes, retry: refusedBefore }, (outcome, body) => {
        onAnswered(performance.now() - sentMs);
        resolve(answerOf(outcome, body));
      });
    });
  };
}

function answerOf(outcome: Outcome, body: string): Answer {
  if (outcome === 'granted') return { kind: 'granted' };
  if (outcome !== 'refused') return { kind: 'unavailable', retryAfterMs: UNREACHABLE_RETRY_MS };
  return { kind: 'refused', retryAfterMs: (JSON.parse(body) as { retryAfterMs?: number }).retryAfterMs ?? 0 };
}
