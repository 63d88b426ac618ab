import type { BackendHealth, BackendRecord, TopicRecord } from '../core/protocol/record.js';
import { isSaneHealth } from '../core/target/throttling-ratio.js';
import { quotamesh } from './generated/report.js';
import { ABSURD, decodeAuthor, isName } from './wire-parts.js';

const { Backend } = quotamesh.v1;

export function encodeBackend(author: quotamesh.v1.IAuthor, { backend, zone, health }: BackendRecord): Uint8Array {
  const { kind, ...figures } = health;
  const told = kind === 'ratio' ? { throttlingRatio: health.ratio } : figures;
  return Backend.encode({ author, backendId: backend, zone, ...told }).finish();
}

export function decodeBackend(body: Uint8Array): TopicRecord | typeof ABSURD {
  const { author: wireAuthor, backendId, zone, level, target, spring, throttlingRatio } = Backend.decode(body);
  const author = decodeAuthor(wireAuthor);
  const ratio = throttlingRatio ?? null;
  const health: BackendHealth =
    ratio === null ? { kind: 'level', level, target, spring } : { kind: 'ratio', ratio: Number(ratio) };
  if (author === null || !isName(backendId) || !isName(zone) || !isSaneHealth(health)) return ABSURD;
  return { kind: 'backend', author, backend: backendId, zone, health };
}
