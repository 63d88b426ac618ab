/** What is asked of all levels at once. Without a name, topic and client are ''; all of those share one. */
export interface Ask {
  lane: number;
  messages: number;
  bytes: number;
  retry: boolean;
  topic: string;
  client: string;
  /** The limit of the node is charged by another lane of the same work (joint-levels.ts). */
  isFurther?: boolean;
}
