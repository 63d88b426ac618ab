import type { ClusterUnderTest } from './cluster-under-test.js';

/**
 * A system that only replays can play: its nodes decide nothing, and the answer to a request comes later than the
 * request.
 */
export interface AskedCluster extends Pick<ClusterUnderTest, 'name' | 'start' | 'limitOf' | 'sent'> {
  /** Asks now; `answer` is called once, when the answer is back. */
  ask(node: string, messages: number, bytes: number, answer: (isAdmitted: boolean) => void): void;
}
