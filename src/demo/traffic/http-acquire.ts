import { Agent, type IncomingMessage, request } from 'node:http';
import type { Answer, Work } from './node-clients.js';
import { CONNECTIONS_PER_NODE } from './node-clients.js';

/** A node that does not answer within this time counts as gone for the moment. */
const TIMEOUT_MS = 1000;
const UNREACHABLE_RETRY_MS = 100;
const UNREACHABLE: Answer = { kind: 'unavailable', retryAfterMs: UNREACHABLE_RETRY_MS };

export interface HttpAcquire {
  acquire(work: Work): Promise<Answer>;
  /** Cuts all connections. */
  close(): void;
}

/** Asks a node over its public API, `POST /v1/acquire`, on kept-alive connections. */
export function httpAcquire(url: string, group: string, onAnswered: (tookMs: number) => void): HttpAcquire {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_PER_NODE });
  const target = new URL('/v1/acquire', url);
  return {
    async acquire({ bytes, refusedBefore }) {
      const sentMs = performance.now();
      const body = JSON.stringify({ group, messages: 1, bytes, retry: refusedBefore });
      const answer = await post(target, agent, body).catch(() => UNREACHABLE);
      onAnswered(performance.now() - sentMs);
      return answer;
    },
    close: () => agent.destroy(),
  };
}

function post(target: URL, agent: Agent, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const sent = request(target, { method: 'POST', agent, headers, timeout: TIMEOUT_MS }, (response) => {
      readAnswer(response).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.on('timeout', () => sent.destroy(new Error('no answer in time')));
    sent.end(body);
  });
}

async function readAnswer(response: IncomingMessage): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (response.statusCode === 200) return { kind: 'granted' };
  const { retryAfterMs } = JSON.parse(Buffer.concat(chunks).toString()) as { retryAfterMs?: number };
  if (response.statusCode === 429) return { kind: 'refused', retryAfterMs: retryAfterMs ?? 0 };
  return { kind: 'unavailable', retryAfterMs: retryAfterMs ?? UNREACHABLE_RETRY_MS };
}
