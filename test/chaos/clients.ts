import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Child } from '../../src/demo/processes/child.js';
import { CALL_FIELDS, type ClientOrder, OUTCOMES, type Outcome, type SeenCalls } from './client-protocol.js';
import { NODES } from './schedule.js';

/** One call as its client saw it. Times are epoch milliseconds. */
export interface Call {
  /** When it should have been sent. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  readonly node: number;
  readonly group: number;
  readonly outcome: Outcome;
}

/** The process of the clients, and everything that they have seen. */
export class Clients {
  readonly calls: Call[] = [];
  readonly #child: Child;

  constructor(folder: string) {
    this.#child = new Child([fileURLToPath(new URL('clients-main.js', import.meta.url))], join(folder, 'clients.log'));
    this.#child.onMessage((message) => this.#take(message as SeenCalls));
  }

  begin(urls: readonly string[]): void {
    this.#tell({ kind: 'begin', urls });
  }

  askSecond(node: number, isOn: boolean): void {
    this.#tell({ kind: 'second', node, isOn });
  }

  get isRunning(): boolean {
    return this.#child.isRunning;
  }

  logEnd(): string {
    return this.#child.logEnd(10);
  }

  stop(): void {
    this.#child.signal('SIGKILL');
  }

  #tell(order: ClientOrder): void {
    this.#child.send(order);
  }

  #take({ calls }: SeenCalls): void {
    for (let at = 0; at < calls.length; at += CALL_FIELDS) {
      const [dueMs, sentMs, endedMs, slot, group, outcome] = calls.subarray(at, at + CALL_FIELDS);
      this.calls.push({
        dueMs: dueMs as number,
        sentMs: sentMs as number,
        endedMs: endedMs as number,
        group: group as number,
        node: (slot as number) % NODES,
        outcome: OUTCOMES[outcome as number] as Outcome,
      });
    }
  }
}
