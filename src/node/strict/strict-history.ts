import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { StrictRead } from '../../core/strict/strict-record.js';
import { TopicInbox } from '../../topic/topic-inbox.js';
import { decodeStrict, laneOfKey } from './strict-codec.js';

/** Records that a log holds of some lanes. */
interface StrictHistory {
  readonly epoch: string;
  readonly reads: ReadonlyMap<string, readonly StrictRead[]>;
}

/** Records per turn of the event loop. */
const RECORDS_PER_TURN = 1000;

/** Reads all that a log holds of some lanes. Closes the topic; where that was closed before, it never resolves. */
export async function readStrictHistory(
  topic: ReportTopic,
  lanes: ReadonlySet<string>,
  telemetry: Telemetry,
): Promise<StrictHistory> {
  let epoch = '';
  const reads = new Map<string, StrictRead[]>();
  const read = new Promise<void>((resolve, reject) => {
    const inbox = new TopicInbox({
      name: 'strict topic, read from its start',
      lossMeans: '; strict groups that were added learn later',
      recordsPerTurn: RECORDS_PER_TURN,
      telemetry,
      onEpoch: (name) => {
        epoch = name;
        reads.clear();
      },
      onRead: (records) => {
        for (const { offset, appendMs, key, value } of records) {
          const lane = laneOfKey(key);
          const record = value === null || !lanes.has(lane) ? null : decodeStrict(value, epoch);
          if (record === null) continue;
          const known = reads.get(lane) ?? [];
          reads.set(lane, known);
          known.push({ offset, appendMs: Math.floor(appendMs), record });
        }
      },
      onCaughtUp: resolve,
    });
    topic.open(inbox).catch(reject);
  });
  try {
    await read;
    return { epoch, reads };
  } finally {
    await topic.close();
  }
}
