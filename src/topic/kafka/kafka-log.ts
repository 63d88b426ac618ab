import type { TopicLog } from '../remote/topic-log.js';
import type { Kafkajs, LogEntry, Logger } from './kafkajs-internals.js';

const KAFKAJS_WARN_LEVEL = 2;

/**
 * Logs kafkajs's own lines as `debug`. kafkajs calls each failed attempt an error, and an outage has many; the adapter
 * itself says once what was lost and why.
 */
export function kafkajsLogger(kafkajs: Kafkajs, log: TopicLog): Logger {
  return kafkajs.createLogger({ level: KAFKAJS_WARN_LEVEL, logCreator: () => (entry) => forward(entry, log) });
}

function forward({ namespace, label, log: { message, timestamp: _, logger: __, ...facts } }: LogEntry, log: TopicLog) {
  log('debug', `kafkajs: ${message}`, { kafkajsLevel: label, ...(namespace ? { part: namespace } : {}), ...facts });
}
