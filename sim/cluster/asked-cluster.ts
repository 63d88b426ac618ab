import type { ClusterUnderTest } from './cluster-under-test.js';

/** What replays alone can play: nodes decide nothing, and the answer to a request comes later than its question. */
export interface AskedCluster extends Pick<ClusterUnderTest, 'name' | 'start' | 'limitOf' | 'sent'> {
  /** Asks now; `answer` is called once, at the time at which the answer is back. */
  ask(node: string, messages: number, bytes: number, answer: (isAdmitted: boolean) => void): void;
}
