import type { Direction } from '../../../core/base/vocabulary.js';
import type { Decision, NotReady, Refused } from '../../api/decision.js';

/** Watches requests that are refused or wait. Grants at once are only counted. */
export interface AdmissionWatch {
  /** Called before the caller gets the decision, in the caller's own turn. */
  refused(request: WatchedRequest, decision: Refused | NotReady): void;
  /**
   * Called when a request begins to wait; its result once at the end.
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
