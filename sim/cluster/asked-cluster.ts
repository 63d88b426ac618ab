import type { ClusterUnderTest } from './cluster-under-test.js';

/** System for replays alone: nodes decide nothing, and answers come later. */
export interface AskedCluster extends Pick<ClusterUnderTest, 'name' | 'start' | 'limitOf' | 'sent'> {
  /** Sends a request; `answer` is called once, when it is back. */
  ask(node: string, messages: number, bytes: number, answer: (isAdmitted: boolean) => void): void;
}
