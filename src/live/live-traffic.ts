import { fileURLToPath } from 'node:url';
import { arrivalStreams } from '../../sim/load/arrival-streams.js';
import { drawArrivals } from '../../sim/load/draw-arrivals.js';
import type { Scenario } from '../../sim/scenario/scenario.js';
import { Child } from '../demo/processes/child.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import { LIVE_GROUP } from './live-config.js';
import type { TrafficOrder, TrafficPlan, TrafficReport } from './traffic/protocol.js';

const MAIN_FILE = fileURLToPath(new URL('./traffic/traffic-main.js', import.meta.url));

/** Our side of the process that sends the arrivals. */
export class LiveTraffic {
  readonly child: Child;
  /** Rejects when the process ends before it has reported. */
  readonly report: Promise<TrafficReport>;

  constructor(scenario: string, logFile: string) {
    this.child = new Child([MAIN_FILE], logFile);
    this.report = new Promise((resolve, reject) => {
      this.child.onMessage((message) => resolve(message as TrafficReport));
      void this.child.ended.then(() => {
        const reason = `the traffic process ended:\n${this.child.logEnd(10)}`;
        reject(new QuotameshError('LIVE_FAILED', { scenario, reason }));
      });
    });
    this.report.catch(() => undefined);
  }

  begin(plan: TrafficPlan): void {
    this.tell({ kind: 'begin', plan });
  }

  tell(order: TrafficOrder): void {
    this.child.send(order);
  }
}

/** What the simulator would let arrive with this seed. */
export function trafficPlan(scenario: Scenario, seed: number, urls: readonly string[], beginsMs: number): TrafficPlan {
  const streams = arrivalStreams(scenario).map(({ id, node, piece, retries, retryAfterMs }) => {
    return { id, node, messages: piece.messages, retries, retryAfterMs };
  });
  const { durationMs } = scenario;
  const arrivals = drawArrivals(scenario, seed);
  return { beginsMs, durationMs, seed, group: LIVE_GROUP, urls, streams, arrivals };
}
