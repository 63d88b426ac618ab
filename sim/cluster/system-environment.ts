import type { EventQueue } from './event-queue.js';
import type { Random } from './random.js';
import type { TopicDelays } from './simulated-topic.js';
import type { WorldSettings } from './world.js';

export interface SystemEnvironment {
  readonly queue: EventQueue;
  readonly random: Random;
  /** To a store or topic and from it. */
  readonly delays: TopicDelays;
  /** Units per second; Infinity = unlimited. */
  readonly quota: { readonly messagesPerSecond: number; readonly bytesPerSecond: number };
  /** Nodes that somebody wrote into the configuration. */
  readonly nodes: number;
  /** What quotamesh nodes are configured with; others do not read it. */
  readonly settings: WorldSettings;
}
