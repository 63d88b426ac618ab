/** Where an adapter and its client write; never the console. */
export type TopicLog = (
  level: 'debug' | 'info' | 'warn' | 'error',
  message: string,
  facts: Readonly<Record<string, unknown>>,
) => void;
