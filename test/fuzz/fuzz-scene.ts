import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import { Access } from '../../src/base/access/access.js';
import type { Telemetry } from '../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { createAcquireOutcomes } from '../../src/doors/http/acquire/acquire-answers.js';
import { closeHttp, createHttpServer, listen } from '../../src/doors/http/server/http-server.js';
import { createMetrics } from '../../src/doors/telemetry/metrics.js';
import { createMemoryLog } from '../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../whole-node.js';

const CLUSTER = 'fuzz';
/** Nobody names it: whatever is asked of the others, its share stays. */
const CANARY = 'canary';
const CONFIG = {
  cluster: CLUSTER,
  node: 'a',
  topic: 'memory',
  registry: { maxGroups: 50 },
  http: { port: 0 },
  limits: { maxReservations: 100, maxWaiting: 100 },
  groups: {
    [CANARY]: { quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: '1MiB' } } },
    orders: { quota: { publish: { messagesPerSecond: 1000 }, dispatch: { messagesPerSecond: 50 } } },
    slow: { quota: { publish: { messagesPerSecond: 0.05 } }, maxRequest: { messages: 100 } },
    free: {},
  },
};

const CONSTANTS = {
  registry: { changesPerSecond: 1_000_000 },
  limiting: { maxBackends: 20 },
};

/** A node on topics of its own, with its HTTP server; what is thrown at it must leave it as it was. */
export class FuzzScene {
  readonly node: WholeNode;
  readonly app: FastifyInstance;
  readonly #errors: string[];

  private constructor(node: WholeNode, app: FastifyInstance, errors: string[]) {
    this.node = node;
    this.app = app;
    this.#errors = errors;
  }

  static async begin(): Promise<FuzzScene> {
    const errors: string[] = [];
    const telemetry: Telemetry = {
      log: (level, message, facts) => {
        if (level === 'error') errors.push(`${message} ${JSON.stringify(facts)}`);
      },
    };
    const config = resolveConfig(CONFIG, { source: '(fuzz)', env: {}, constants: CONSTANTS });
    const options = { appendTimeoutMs: 1000 };
    const [topic, registryTopic] = [0, 1].map(() => new MemoryTopic(createMemoryLog(), options));
    const node = new WholeNode({ config, topic: topic, registryTopic, telemetry, version: '0', nonce: 1 });
    const outcomes = createAcquireOutcomes();
    const access = new Access(null, node.clock, telemetry);
    const metrics = createMetrics({ node, access, outcomes, incidents: { unhandledRejections: 0 } });
    const app = await createHttpServer({ node, access, telemetry, metrics, outcomes });
    await node.start();
    await node.ready();
    node.tryAcquire(CANARY, { messages: 1 });
    return new FuzzScene(node, app, errors);
  }

  /** It decides as before, and has met nothing unexpected. `last` is for the message. */
  expectUnharmed(last: unknown): void {
    const { quota, local } = this.node.groupStatus(CANARY).directions.publish;
    const rates = { messagesPerSecond: 1000, bytesPerSecond: 1024 ** 2 };
    expect({ quota, share: local.share }, show(last)).toEqual({ quota: rates, share: rates });
    // What the registry says and this node cannot use is told; anything else is a defect.
    expect(this.#errors.splice(0).filter((line) => !line.startsWith('an entry of the registry'))).toEqual([]);
  }

  /** Listens from the first call on. */
  async port(): Promise<number> {
    if (!this.app.server.listening) await listen(this.app, this.node);
    const address = this.app.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  async end(): Promise<void> {
    if (this.app.server.listening) await closeHttp(this.app, 1000);
    else await this.app.close();
    await this.node.close();
  }
}

/** All that a server answers to bytes behind which nothing follows. */
export function answerTo(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes, 'latin1'));
    socket.setTimeout(10_000, () => reject(new Error(`no answer to ${show(bytes)}`)));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    // Reset is what a server may do to somebody who writes on after a mistake.
    socket.on('error', () => resolve(text)).on('close', () => resolve(text));
  });
}

/** Bytes that are in use, after everything that is not has been collected. */
export async function heapBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let at = 0; at < 3; at++) {
    await turn();
    collect();
  }
  return process.memoryUsage().heapUsed;
}

export function show(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 2000);
}
