/** A request to all levels. '' = a topic or client without a name; all of these share one bucket. */
export interface TokenRequest {
  lane: number;
  messages: number;
  bytes: number;
  retry: boolean;
  topic: string;
  client: string;
  /** True if another lane of the work charges the node's limit (joint-levels.ts). */
  isFurther?: boolean;
}
