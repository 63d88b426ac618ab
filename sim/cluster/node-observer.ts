import type { CoordinatorEvent, Effects } from '../../src/core/base/protocol/events-and-effects.js';
import type { SimulatedNode } from './simulated-node.js';

/** Observes a world's processes, and changes nothing. */
export interface NodeObserver {
  stepped(node: SimulatedNode, event: CoordinatorEvent, effects: Effects): void;
  admitted(node: SimulatedNode, lane: number, messages: number): void;
  /** Called when a running process refuses a request. */
  refused(node: SimulatedNode, lane: number, messages: number): void;
  /** Called when a process ends without a step (kill -9). */
  ended(node: SimulatedNode): void;
}
