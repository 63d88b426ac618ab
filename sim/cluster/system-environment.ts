import type { EventQueue } from './event-queue.js';
import type { Random } from './random.js';
import type { TopicDelays } from './simulated-topic.js';
import type { WorldSettings } from './world.js';

export interface SystemEnvironment {
  readonly queue: EventQueue;
  readonly random: Random;
  /** Delays to and from a store or topic. */
  readonly delays: TopicDelays;
  readonly quota: { readonly messagesPerSecond: number; readonly bytesPerSecond: number };
  readonly nodes: number;
  readonly settings: WorldSettings;
}
