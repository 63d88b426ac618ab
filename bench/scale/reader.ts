import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Measured, Order } from './reading-node.js';

/** The process of the reading node, from outside. */
export class Reader {
  readonly #child: ChildProcess = fork(fileURLToPath(new URL('./reading-node.js', import.meta.url)), {
    execArgv: ['--expose-gc'],
  });

  tell(order: Order): Promise<Measured | null> {
    return new Promise((resolve, reject) => {
      this.#child.once('message', (answer) => resolve(answer as Measured | null));
      this.#child.once('exit', (code) => reject(new Error(`the reading node ended with ${code}`)));
      this.#child.send(order);
    });
  }

  async measure(): Promise<Measured> {
    return (await this.tell({ do: 'measure' })) as Measured;
  }

  stop(): void {
    this.#child.removeAllListeners('exit');
    this.#child.disconnect();
  }
}
