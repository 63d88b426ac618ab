import type { CoordinatorEvent, Effects } from '../src/core/coordinator-protocol.js';
import type { SimulatedNode } from './simulated-node.js';

/** Sees everything that processes of a world do, as it happens; changes nothing. */
export interface NodeObserver {
  /** After a step and what was enforced of it. */
  stepped(node: SimulatedNode, event: CoordinatorEvent, effects: Effects): void;
  admitted(node: SimulatedNode, lane: number, messages: number): void;
  /** The process is gone without a step: kill -9. */
  ended(node: SimulatedNode): void;
}
