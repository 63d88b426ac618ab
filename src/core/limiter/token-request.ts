/** What is asked of all levels at once. A topic or client without a name is ''; all without one share one bucket. */
export interface TokenRequest {
  lane: number;
  messages: number;
  bytes: number;
  retry: boolean;
  topic: string;
  client: string;
  /** True if another lane of the same work charges the node's limit (joint-levels.ts). */
  isFurther?: boolean;
}
