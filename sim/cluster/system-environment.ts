import type { EventQueue } from './event-queue.js';
import type { Random } from './random.js';
import type { TopicDelays } from './simulated-topic.js';
import type { WorldSettings } from './world.js';

export interface SystemEnvironment {
  readonly queue: EventQueue;
  readonly random: Random;
  /** Delays to a store or topic, and from it. */
  readonly delays: TopicDelays;
  /** Units per second; Infinity = unlimited. */
  readonly quota: { readonly messagesPerSecond: number; readonly bytesPerSecond: number };
  /** How many nodes the configuration names, for systems whose quota is divided by such a number. */
  readonly nodes: number;
  /** The settings of quotamesh nodes; other systems do not read them. */
  readonly settings: WorldSettings;
}
