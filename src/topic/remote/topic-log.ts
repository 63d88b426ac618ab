/** Sink for lines of an adapter and its client; never the console. */
export type TopicLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  facts: Readonly<Record<string, unknown>>,
) => void;
