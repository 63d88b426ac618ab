import { setTimeout as sleep } from 'node:timers/promises';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { COMMAND_FILE } from '../../base/package/package-root.js';
import { type ClusterStatus, fetchClusterStatus } from '../node-client/cluster-status.js';
import { Child, type ChildOptions } from './child.js';

const READY_POLL_MS = 50;
const READY_TIMEOUT_MS = 30_000;

interface NodeProcessOptions extends ChildOptions {
  readonly id: string;
  readonly port: number;
  readonly configFile: string;
}

/** Runs `quotamesh run` in a process. */
export class NodeProcess {
  readonly id: string;
  readonly url: string;
  readonly child: Child;

  constructor({ id, port, configFile, ...options }: NodeProcessOptions) {
    const address = `127.0.0.1:${port}`;
    this.id = id;
    this.url = `http://${address}`;
    const args = ['run', '--config', configFile, '--node', id, '--http', address];
    this.child = new Child([COMMAND_FILE, ...args], options);
  }

  /** Resolves when the node decides; rejects with the end of its log if it ends or is late. */
  async ready(timeoutMs = READY_TIMEOUT_MS): Promise<void> {
    const deadlineMs = performance.now() + timeoutMs;
    while (this.child.isRunning && performance.now() < deadlineMs) {
      if (await this.#isReady()) return;
      await sleep(READY_POLL_MS);
    }
    const { exit } = this.child;
    const reason = exit === null ? `not ready within ${timeoutMs / 1000} s` : `ended with ${exit.code ?? exit.signal}`;
    throw new QuotameshError('NODE_FAILED', { node: this.id, reason, log: this.child.logEnd() });
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
