import type { NetConnectOpts } from 'node:net';
import { requestWith } from '../../src/tools/load/http-pipe.js';
import { keepAsking } from './keep-asking.js';

/** One turn: ask this server, this way, for so long. */
export interface LoadTurn {
  readonly place: NetConnectOpts;
  readonly path: string;
  readonly body: object;
  readonly token?: string;
  readonly forMs: number;
}

export interface LoadAnswer {
  readonly answered: number;
  readonly failed: number;
  readonly tookMs: number;
}

/** One request under way on each, as HTTP/1.1 clients do it: none of them pipelines. */
const CONNECTIONS = 32;

process.on('message', async (turn: LoadTurn) => process.send?.(await play(turn)));
process.on('disconnect', () => process.exit(0));

async function play({ place, path, body, token, forMs }: LoadTurn): Promise<LoadAnswer> {
  const request = requestWith('POST', path, body, token);
  const beganMs = performance.now();
  let [answered, failed] = [0, 0];
  await keepAsking({
    place,
    connections: CONNECTIONS,
    next: () => (performance.now() < beganMs + forMs ? request : null),
    onAnswer: (status) => (status === 200 ? answered++ : failed++),
  });
  return { answered, failed, tookMs: performance.now() - beganMs };
}
