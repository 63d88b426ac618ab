import { fork } from 'node:child_process';

export interface PublisherPlan {
  readonly id: string;
  readonly topic: string;
  /** What it would publish if nobody held it back. */
  readonly perSecond: number;
}

export interface PublisherResult {
  readonly errors: number;
  readonly acknowledged: Readonly<Record<string, number>>;
}

export interface PublisherProcess {
  go(): void;
  stop(): Promise<PublisherResult>;
  /** Stops once everything under way is acknowledged. */
  drain(): Promise<PublisherResult>;
  end(): void;
}

/** Starts publishers in a process of their own; resolves when all are connected. */
export async function startPublishers(
  url: string,
  publishers: readonly PublisherPlan[],
  options: { readonly payloadBytes?: number; readonly underWay?: number } = {},
): Promise<PublisherProcess> {
  const child = fork(PROGRAM, [JSON.stringify({ url, publishers, ...options })]);
  const next = <Message>() =>
    new Promise<Message>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Message));
      child.once('exit', (code) => reject(new Error(`the publishers ended with ${code}`)));
    });
  await next();
  return {
    go: () => void child.send('go'),
    stop: async () => {
      child.send('stop');
      return await next<PublisherResult>();
    },
    drain: async () => {
      child.send('drain');
      return await next<PublisherResult>();
    },
    end: () => {
      if (child.connected) child.send('end');
    },
  };
}

const PROGRAM = new URL(
  import.meta.url.includes('/dist-bench/') ? '../../../test/mqtt/publishers.mjs' : './publishers.mjs',
  import.meta.url,
);
