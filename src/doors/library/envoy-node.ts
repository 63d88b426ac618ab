import { EmbeddedNode } from '../../node/loop/embedded-node.js';

/** Listeners and followed files beside a node. */
interface ClosedFirst {
  close(): Promise<void>;
}

/** A node that Envoy asks: its gRPC ends first, while the node still answers. */
export class EnvoyNode extends EmbeddedNode {
  readonly #envoy: ClosedFirst;
  #ending: Promise<void> | null = null;

  constructor(envoy: ClosedFirst, ...node: ConstructorParameters<typeof EmbeddedNode>) {
    super(...node);
    this.#envoy = envoy;
  }

  override close(): Promise<void> {
    this.#ending ??= this.#envoy.close().finally(() => super.close());
    return this.#ending;
  }
}
