import type { GroupStateRecord, TopicRecord } from '../core/report/record.js';
import { DIRECTION_COUNT } from '../core/vocabulary.js';
import { quotamesh } from './generated/report.js';
import { ABSURD, decodeAuthor, isRate, read48, write48 } from './wire-parts.js';

const { GroupState } = quotamesh.v1;

export function encodeGroupState(author: quotamesh.v1.IAuthor, record: GroupStateRecord): Uint8Array {
  const groupId = new Uint8Array(6);
  write48(groupId, 0, record.groupId);
  const { level: rampLevel, direction, lateMs, timeToLiveMs } = record;
  return GroupState.encode({ author, groupId, direction, rampLevel, lateMs, timeToLiveMs }).finish();
}

export function decodeGroupState(body: Uint8Array): TopicRecord | typeof ABSURD {
  const state = GroupState.decode(body);
  const { groupId, direction, rampLevel: level, lateMs, timeToLiveMs } = state;
  const author = decodeAuthor(state.author);
  const isSane = groupId.length === 6 && direction < DIRECTION_COUNT && [level, lateMs, timeToLiveMs].every(isRate);
  if (author === null || !isSane) return ABSURD;
  return { kind: 'group-state', author, groupId: read48(groupId, 0), direction, level, lateMs, timeToLiveMs };
}
