import type { CoordinatorEvent, Effects } from '../../src/core/base/protocol/events-and-effects.js';
import type { SimulatedNode } from './simulated-node.js';

/** Sees what the processes of a world do, as it happens, and changes nothing. */
export interface NodeObserver {
  /** Called after a step, when its effects are in force. */
  stepped(node: SimulatedNode, event: CoordinatorEvent, effects: Effects): void;
  admitted(node: SimulatedNode, lane: number, messages: number): void;
  /** Called when a running process refuses a request. */
  refused(node: SimulatedNode, lane: number, messages: number): void;
  /** Called when a process ends without a step (kill -9). */
  ended(node: SimulatedNode): void;
}
