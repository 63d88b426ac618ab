import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../base/package/package-root.js';
import { Child } from '../processes/child.js';
import { type Call, callsIn } from './call.js';
import type { LoadOrder, LoadPlan } from './load-order.js';

/** Bundled, as the nodes are: it runs from wherever this file is compiled to. */
const MAIN_FILE = fileURLToPath(new URL('dist/bin/load.js', PACKAGE_ROOT));

/** Our side of the process of the load. */
export class LoadProcess {
  readonly child = new Child([MAIN_FILE]);

  play(name: string, plan: LoadPlan): void {
    this.tell({ kind: 'play', name, plan });
  }

  /** What has ended since the last time, in order of its end. Rejects when the process ends instead. */
  async collect(): Promise<Call[]> {
    return callsIn(await this.child.ask<Float64Array>({ kind: 'collect' } satisfies LoadOrder));
  }

  /** The same, when nothing arrives any more and nothing is under way. */
  async finish(): Promise<Call[]> {
    return callsIn(await this.child.ask<Float64Array>({ kind: 'finish' } satisfies LoadOrder));
  }

  tell(order: LoadOrder): void {
    this.child.send(order);
  }
}
