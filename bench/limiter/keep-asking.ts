import type { NetConnectOpts } from 'node:net';
import { HttpPipe } from '../../src/tools/load/http-pipe.js';

export interface Asking {
  readonly place: NetConnectOpts;
  readonly connections: number;
  /** Returns the next request; null = the end. */
  readonly next: () => string | null;
  readonly onAnswer: (status: number, body: string, tookMs: number) => void;
}

/** Runs a closed load: one request per connection, the next after its answer. */
export async function keepAsking({ connections, ...asking }: Asking): Promise<void> {
  await Promise.all(Array.from({ length: connections }, () => askOneByOne(asking)));
}

async function askOneByOne({ place, next, onAnswer }: Omit<Asking, 'connections'>): Promise<void> {
  const pipe = new HttpPipe(place);
  const answerTo = (request: string) =>
    new Promise<{ readonly status: number | null; readonly body: string }>((resolve) => {
      pipe.send({ request, onAnswer: (status, body) => resolve({ status, body }) });
    });
  try {
    for (let request = next(); request !== null; request = next()) {
      const sentMs = performance.now();
      const { status, body } = await answerTo(request);
      if (status === null) throw new Error('the connection went before the answer came');
      onAnswer(status, body, performance.now() - sentMs);
    }
  } finally {
    pipe.close();
  }
}
