import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { Child } from '../../src/tools/processes/child.js';

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
  const child = new Child([PROGRAM, JSON.stringify({ url, publishers, ...options })]);
  await child.next();
  return {
    go: () => child.send('go'),
    stop: () => child.ask<PublisherResult>('stop'),
    drain: () => child.ask<PublisherResult>('drain'),
    end: () => child.send('end'),
  };
}

const PROGRAM = fileURLToPath(new URL('test/mqtt/publishers.mjs', PACKAGE_ROOT));
