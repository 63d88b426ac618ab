import type { Coordinator } from '../core/coordinator/coordinator.js';
import type { CoordinatorEvent } from '../core/protocol/events-and-effects.js';
import type { QuotameshError } from '../errors/quotamesh-error.js';
import { type AssemblyOptions, assembleParts } from './assemble-node.js';
import { EmbeddedNode } from './embedded-node.js';
import type { NodeParts } from './node-parts.js';
import type { RebalancingWatch } from './rebalancing-watch.js';

export interface QuotaNode extends NodeParts {}

/** The parts and the public face in one object, until HTTP, MQTT, metrics and tests take the parts alone. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: goes with the class
export class QuotaNode extends EmbeddedNode {
  constructor(options: AssemblyOptions) {
    const parts = assembleParts(options);
    super(parts);
    Object.assign(this, parts);
  }

  get coordinator(): Coordinator | null {
    return this.loop.coordinator;
  }

  get rounds(): { readonly count: number; readonly totalMs: number } {
    return this.loop.rounds;
  }

  get rebalancing(): RebalancingWatch {
    return this.loop.rebalancing;
  }

  get isClosing(): boolean {
    return this.life.isClosing;
  }

  start(): Promise<void> {
    return this.life.start();
  }

  serve(lane: number): void {
    this.loop.serve(lane);
  }

  step(event: CoordinatorEvent): void {
    this.loop.step(event);
  }

  notReadyError(): QuotameshError {
    return this.notReady();
  }
}
