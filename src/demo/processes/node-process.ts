import { setTimeout as sleep } from 'node:timers/promises';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import { type ClusterStatus, fetchClusterStatus } from '../../node-client/cluster-status.js';
import { COMMAND_FILE } from '../../package/package-root.js';
import { Child } from './child.js';

const READY_POLL_MS = 50;
const LOG_LINES_SHOWN = 10;

export interface NodeProcessOptions {
  readonly id: string;
  readonly port: number;
  readonly folder: NodeFolder;
}

/** Where its configuration is, and where its log goes. */
export interface NodeFolder {
  readonly configFile: string;
  logFile(name: string): string;
}

/** One node of the cluster: `quotamesh run` in a process of its own. */
export class NodeProcess {
  readonly id: string;
  readonly url: string;
  readonly child: Child;

  constructor({ id, port, folder }: NodeProcessOptions) {
    const address = `127.0.0.1:${port}`;
    this.id = id;
    this.url = `http://${address}`;
    const args = ['run', '--config', folder.configFile, '--node', id, '--http', address];
    this.child = new Child([COMMAND_FILE, ...args], folder.logFile(id));
  }

  /** Resolves when the node decides; rejects with the end of its log when it ends instead, or is not ready in time. */
  async ready(timeoutMs: number): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (this.child.isRunning && performance.now() < deadlineMs) {
      if (await this.#isReady()) return;
      await sleep(READY_POLL_MS);
    }
    const { exit } = this.child;
    const reason = exit === null ? `not ready within ${timeoutMs / 1000} s` : `ended with ${exit.code ?? exit.signal}`;
    const log = this.child.logEnd(LOG_LINES_SHOWN);
    throw new QuotameshError('NODE_FAILED', { node: this.id, reason, log });
  }

  status(group: string): Promise<ClusterStatus> {
    return fetchClusterStatus({ url: new URL(this.url), token: null, tls: {} }, [group]);
  }

  async #isReady(): Promise<boolean> {
    const signal = AbortSignal.timeout(1000);
    return await fetch(new URL('/readyz', this.url), { signal }).then(
      ({ ok }) => ok,
      () => false,
    );
  }
}
