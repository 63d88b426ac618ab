import type { GroupStateRecord, TopicRecord } from '../../core/base/protocol/record.js';
import { DIRECTION_COUNT } from '../../core/base/vocabulary.js';
import { TIME_TO_LIVE_MAX_MS } from '../../core/target/constants/constants.js';
import { quotamesh } from './generated/report.js';
import { ABSURD, decodeAuthor, decodeIds, encodeIds, isWireRate } from './wire-parts.js';

const { GroupState } = quotamesh.v1;

export function encodeGroupState(author: quotamesh.v1.IAuthor, record: GroupStateRecord): Uint8Array {
  const groupId = encodeIds([record.groupId]);
  const { ceiling: rampLevel, direction, lateMs, readUntilMs, readUntilOffset, timeToLiveMs } = record;
  const fields = { author, groupId, direction, rampLevel, lateMs, readUntilMs, readUntilOffset, timeToLiveMs };
  return GroupState.encode(fields).finish();
}

export function decodeGroupState(body: Uint8Array): TopicRecord | typeof ABSURD {
  const state = GroupState.decode(body);
  const { direction, rampLevel: ceiling, lateMs, readUntilMs, readUntilOffset, timeToLiveMs } = state;
  const ids = decodeIds(state.groupId);
  const author = decodeAuthor(state.author);
  const rates = [ceiling, lateMs, readUntilMs, readUntilOffset, timeToLiveMs];
  if (author === null || ids?.length !== 1 || direction >= DIRECTION_COUNT || !rates.every(isWireRate)) return ABSURD;
  if (timeToLiveMs > TIME_TO_LIVE_MAX_MS) return ABSURD;
  const fields = {
    groupId: ids[0],
    direction,
    ceiling,
    lateMs,
    readUntilMs,
    readUntilOffset,
    timeToLiveMs,
  };
  return { kind: 'group-state', author, ...fields };
}
