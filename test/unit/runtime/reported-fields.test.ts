import { expect, test } from 'vitest';
import { groupIdOf } from '../../../src/core/base/ids.js';
import { NOTHING_REPORTED, type ReportRow } from '../../../src/core/base/protocol/record.js';
import { laneShares } from '../../../src/node/status/lane-summary.js';
import { RecordCodec } from '../../../src/topic/codec/record-codec.js';
import { GATED, SETTINGS } from '../../simulation/settings.js';
import { OneNode } from '../core/machine/one-node.js';

const FIELDS = Object.keys(NOTHING_REPORTED) as (keyof typeof NOTHING_REPORTED)[];
const codec = new RecordCodec(SETTINGS.cluster);

/** A field that is added is asked for here: on the wire, in the rows of the usage map, and where people see it. */
test.each(FIELDS)('%s of a report reaches the status of another node', (field) => {
  expect(shownOf({ [field]: 5 })).not.toEqual(shownOf({ [field]: 4 }));
});

/** Shows every node of a lane after a report by `b` went over the wire. */
function shownOf(said: Partial<ReportRow>) {
  const node = OneNode.ready();
  const row = { ...NOTHING_REPORTED, groupId: groupIdOf(SETTINGS.cluster, GATED.name), direction: 0, ...said };
  const { record, ...place } = node.report('b', [row]);
  const decoded = codec.decode(codec.encode(record!));
  expect(decoded).toEqual({ record });
  if (!('record' in decoded)) throw new Error(decoded.cause);
  node.read(node.by('b', 'node'), { ...place, record: decoded.record });
  return laneShares(node.coordinator, 0, 0, node.nowMs);
}
