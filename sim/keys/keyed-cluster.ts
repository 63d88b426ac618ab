import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { RecordCodec } from '../../src/topic/codec/record-codec.js';
import { EventQueue } from '../cluster/event-queue.js';
import { Random } from '../cluster/random.js';
import { SimulatedTopic, type TopicDelays } from '../cluster/simulated-topic.js';
import { KeyedNode } from './keyed-node.js';

export interface KeyedClusterSettings {
  readonly nodes: number;
  /** `keys:` of a configuration: templates, maxLive. */
  readonly keys: object;
  readonly seed: number;
  /** Replaces the constant. */
  readonly maxLoud?: number;
  readonly delays?: TopicDelays;
}

/** Runs nodes with the same templates in virtual time, ready when made. */
export class KeyedCluster {
  readonly queue = new EventQueue();
  readonly random: Random;
  readonly nodes: readonly KeyedNode[];
  readonly topic: SimulatedTopic;
  readonly #codec: RecordCodec;
  #counted = 0;

  constructor({ nodes, keys, seed, maxLoud, delays = NEAR }: KeyedClusterSettings) {
    this.random = new Random(seed);
    this.topic = new SimulatedTopic(this.queue, this.random, delays, 1);
    this.#codec = new RecordCodec(CLUSTER);
    this.nodes = Array.from({ length: nodes }, (_, at) => {
      const raw = { cluster: CLUSTER, node: `node-${at}`, topic: 'memory', keys };
      const config = resolveConfig(raw, {
        source: '(simulated)',
        env: {},
        constants: { keys: maxLoud === undefined ? {} : { maxLoud } },
      });
      return new KeyedNode(config, this.queue, this.topic, { nonce: at });
    });
    this.advance(READY_AFTER_MS);
  }

  get nowMs(): number {
    return this.queue.nowMs;
  }

  advance(durationMs: number): void {
    this.queue.runUntil(this.queue.nowMs + durationMs);
  }

  /** Counts records, bytes and reports since the last call; drops what all have read. */
  countSent(): { readonly records: number; readonly reports: number; readonly bytes: number } {
    const { log } = this.topic;
    const records = log.length - this.#counted;
    let [reports, bytes] = [0, 0];
    for (; this.#counted < log.length; this.#counted++) {
      const { key, record } = log[this.#counted];
      // A report's key has a bundle behind its node (src/core/base/protocol/record.ts).
      if (key.includes('/')) reports++;
      bytes += key.length + (record === null ? 0 : this.#codec.encode(record).length);
    }
    this.topic.forgetDelivered();
    return { records, reports, bytes };
  }
}

const CLUSTER = 'keys';
/** Delays within a data centre. */
const NEAR: TopicDelays = { appendMs: [1, 3], deliveryMs: [1, 3] };
const READY_AFTER_MS = 3000;
