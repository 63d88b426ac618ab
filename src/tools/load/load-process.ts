import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../base/package/package-root.js';
import { Child } from '../processes/child.js';
import { type Call, callsIn } from './call.js';
import type { LoadOrder, LoadPlan } from './load-order.js';

/** Bundled as the nodes are: it runs from any compiled place. */
const MAIN_FILE = fileURLToPath(new URL('dist/bin/load.js', PACKAGE_ROOT));

/** Controls the process of the load. */
export class LoadProcess {
  readonly child = new Child([MAIN_FILE]);

  play(name: string, plan: LoadPlan): void {
    this.tell({ kind: 'play', name, plan });
  }

  /** Returns calls ended since the last time, in order; rejects when the process ends. */
  async collect(): Promise<Call[]> {
    return callsIn(await this.child.ask<Float64Array>({ kind: 'collect' } satisfies LoadOrder));
  }

  /** Returns the rest, once nothing is under way. */
  async finish(): Promise<Call[]> {
    return callsIn(await this.child.ask<Float64Array>({ kind: 'finish' } satisfies LoadOrder));
  }

  tell(order: LoadOrder): void {
    this.child.send(order);
  }
}
