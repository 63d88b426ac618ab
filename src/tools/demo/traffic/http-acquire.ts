import type { Outcome } from '../../load/call.js';
import { NodeConnections } from '../../load/node-connections.js';
import type { Answer, Work } from './node-clients.js';

/** Milliseconds after which a silent node counts as gone. */
const PATIENCE_MS = 1000;
const UNREACHABLE_RETRY_MS = 100;

/** Requests admission over `POST /v1/acquire`. */
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
