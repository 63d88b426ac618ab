import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { CommitGate, type GateHold } from '../../src/topic/embedded/commit-gate.js';
import { makeTopicFolder } from '../../src/topic/embedded/topic-folder.js';
import type { Frozen } from './frozen.js';

/** Topic of a live run, which can be taken from all nodes. */
export interface LiveTopic {
  /** `topic:` of node.yaml. */
  readonly config: Readonly<Record<string, unknown>>;
  beginOutage(): Promise<void>;
  /** Ends an outage, if any. */
  endOutage(): void;
  /** Removes it, once nodes have gone. */
  remove(): Promise<void>;
}

/** Keeps the topic in the run's folder; away while somebody holds its commit gate. */
export class EmbeddedLiveTopic implements LiveTopic {
  readonly config: LiveTopic['config'];
  readonly #path: string;
  #hold: GateHold | undefined;
  #ended = new AbortController();

  constructor(folder: string) {
    this.#path = join(folder, 'topic');
    this.config = { kind: 'embedded', path: this.#path };
  }

  async beginOutage(): Promise<void> {
    const { gateName } = await makeTopicFolder(this.#path);
    this.#ended = new AbortController();
    const hold = await new CommitGate(gateName).enter(this.#ended.signal);
    if (this.#ended.signal.aborted) hold?.leave();
    else this.#hold = hold;
  }

  endOutage(): void {
    this.#ended.abort();
    this.#hold?.leave();
    this.#hold = undefined;
  }

  async remove(): Promise<void> {}
}

interface KafkaAddress {
  readonly brokers: readonly string[];
  /** Process frozen in an outage; null = unknown. */
  readonly brokerPid: number | null;
  readonly partitions: number;
}

/** Uses a topic of its own, which the first node creates; away while its broker is frozen. */
export class KafkaLiveTopic implements LiveTopic {
  readonly config: LiveTopic['config'];
  readonly #address: KafkaAddress;
  readonly #name = `quotamesh-live-${randomBytes(6).toString('hex')}`;
  readonly #frozen: Frozen;

  constructor(address: KafkaAddress, frozen: Frozen) {
    const { brokers, partitions } = address;
    this.#address = address;
    this.#frozen = frozen;
    this.config = { kind: 'kafka', brokers, name: this.#name, partitions };
  }

  async beginOutage(): Promise<void> {
    if (this.#address.brokerPid !== null) this.#frozen.freeze(this.#address.brokerPid);
  }

  endOutage(): void {
    if (this.#address.brokerPid !== null) this.#frozen.thaw(this.#address.brokerPid);
  }

  async remove(): Promise<void> {
    const { Kafka, logLevel } = (await import('kafkajs')).default;
    const patience = { requestTimeout: REMOVE_TIMEOUT_MS, retry: { retries: 1 } };
    const client = { clientId: 'quotamesh-live', logLevel: logLevel.NOTHING, ...patience };
    const admin = new Kafka({ brokers: [...this.#address.brokers], ...client }).admin();
    try {
      await admin.connect();
      const topics = await admin.listTopics();
      if (topics.includes(this.#name)) await admin.deleteTopics({ topics: [this.#name], timeout: REMOVE_TIMEOUT_MS });
    } finally {
      await admin.disconnect();
    }
  }
}

const REMOVE_TIMEOUT_MS = 5000;
