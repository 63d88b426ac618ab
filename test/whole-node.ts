import { silentTelemetry, type Telemetry } from '../src/base/ports/telemetry.js';
import type { OtherConstants } from '../src/config/resolved/constants.js';
import type { ResolvedConfig } from '../src/config/resolved/resolved-config.js';
import type { CoordinatorEvent } from '../src/core/base/protocol/events-and-effects.js';
import type { Coordinator } from '../src/core/machine/coordinator.js';
import type { CreateNodeOptions } from '../src/doors/library/create-node.js';
import { configOf } from '../src/doors/library/start-with-options.js';
import { type AssemblyOptions, assembleParts } from '../src/node/loop/assemble-node.js';
import { EmbeddedNode } from '../src/node/loop/embedded-node.js';
import type { NodeParts } from '../src/node/loop/node-parts.js';
import type { RebalancingWatch } from '../src/node/loop/rebalancing-watch.js';
import { assemblyOf, startParts } from '../src/node/loop/start-node.js';

/** Two things are called `groups`, and two `keys`: tests look at the parts. */
const FaceWithoutGroups = EmbeddedNode as new (parts: NodeParts, http: null) => Omit<EmbeddedNode, 'groups' | 'keys'>;

export interface WholeNode extends NodeParts {}

/** A node with its parts in one object, for tests that look behind the public face. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every part
export class WholeNode extends FaceWithoutGroups {
  constructor(options: AssemblyOptions) {
    const parts = assembleParts(options);
    super(parts, null);
    const { groups, keys, ...others } = parts;
    Object.assign(this, others);
    Object.defineProperties(this, { groups: { value: groups }, keys: { value: keys } });
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
}

/** On the topics that the configuration asks for; not started. */
export async function wholeNode(config: ResolvedConfig, telemetry: Telemetry): Promise<WholeNode> {
  return new WholeNode(await assemblyOf(config, telemetry));
}

/** On the topics of a configuration as `createNode` takes it; not started. */
export async function prepareWholeNode(options: CreateNodeOptions, constants?: OtherConstants): Promise<WholeNode> {
  return wholeNode(await configOf(options, constants), options.telemetry ?? silentTelemetry);
}

/** As `createNode`. */
export async function createWholeNode(options: CreateNodeOptions, constants?: OtherConstants): Promise<WholeNode> {
  const node = await prepareWholeNode(options, constants);
  await startParts(node, options.readyTimeoutMs);
  return node;
}
