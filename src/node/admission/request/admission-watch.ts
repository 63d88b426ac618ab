import type { Direction } from '../../../core/base/vocabulary.js';
import type { Decision, NotReady, Refused } from '../../api/decision.js';

/** Is told of requests that were refused, and of those that wait. Grants at once are told to nobody: they are counted. */
export interface AdmissionWatch {
  /** Called before the caller gets the decision, in the caller's own turn. */
  refused(request: WatchedRequest, decision: Refused | NotReady): void;
  /**
   * A request begins to wait. What is returned is called once, when the wait ends.
   * @returns takes null where the wait was given up, or ended with an error
   */
  waits(request: WatchedRequest): (decision: Decision | null) => void;
}

export interface WatchedRequest {
  readonly group: string;
  readonly direction: Direction;
  readonly messages: number;
  readonly bytes: number;
}
