import { fileURLToPath } from 'node:url';
import { Child } from '../../src/tools/processes/child.js';
import type { Measured, Order } from './reading-node.js';

const STOP_PATIENCE_MS = 5000;

/** The process of the reading node, from outside. */
export class Reader {
  readonly #child = new Child(['--expose-gc', fileURLToPath(new URL('./reading-node.js', import.meta.url))]);

  tell(order: Order): Promise<Measured | null> {
    return this.#child.ask(order);
  }

  async measure(): Promise<Measured> {
    return (await this.tell({ do: 'measure' })) as Measured;
  }

  async stop(): Promise<void> {
    await this.#child.stop(STOP_PATIENCE_MS);
  }
}
