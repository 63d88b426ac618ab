import { describe, expect, test } from 'vitest';
import { BASE_MAX } from '../../../src/core/beside/registry/registry-epochs.js';
import type {
  AuditRecord,
  BatchEntry,
  BatchPartRecord,
  BatchRecord,
  EpochRecord,
  ProposalRecord,
  StateRecord,
  VerdictRecord,
} from '../../../src/core/beside/registry/registry-record.js';
import { Envelope, MAX_RECORD_BYTES } from '../../../src/topic/codec/envelope.js';
import { quotamesh } from '../../../src/topic/codec/generated/report.js';
import { DEFINITION_BYTES_MAX, RegistryCodec } from '../../../src/topic/codec/registry-codec.js';

const codec = new RegistryCodec('demo');
const BY = { name: 'ops', how: 'token', requestId: 'r-1', atMs: 1_700_000_000_000 };
const PROPOSAL: ProposalRecord = {
  kind: 'proposal',
  id: 'p',
  author: 'a',
  group: 'orders',
  expected: null,
  definition: { debtMs: 1 },
  by: BY,
};
const AUDIT: AuditRecord = {
  kind: 'audit',
  author: 'a',
  group: 'orders',
  revision: 7,
  before: null,
  after: { debtMs: 1 },
  by: BY,
};
const ENTRY: BatchEntry = { group: 'orders', expected: null, definition: { debtMs: 1 } };
const PART: BatchPartRecord = { kind: 'batch-part', id: 'p', author: 'a', part: 0, entries: [ENTRY] };
const BATCH: BatchRecord = { kind: 'batch', id: 'p', author: 'a', parts: 1, entries: [ENTRY], by: BY };
const VERDICT: VerdictRecord = { kind: 'verdict', id: 'p', author: 'a', isAccepted: true };
const EPOCH: EpochRecord = { kind: 'epoch', id: 'e', author: 'a', base: BASE_MAX };
const STATE: StateRecord = {
  kind: 'state',
  author: 'a',
  group: 'orders',
  asOf: 3,
  shift: -(2 ** 51),
  revision: 2,
  definition: null,
};
const seal = (body: unknown) => new Envelope('demo').seal(quotamesh.v1.Kind.QUOTA, Buffer.from(JSON.stringify(body)));
/** As large as is taken, in characters that JSON escapes. */
const LARGE = { weights: { ['\u0001'.repeat(Math.floor((DEFINITION_BYTES_MAX - 30) / 6))]: 1 } };

describe('records of the trail', () => {
  test.each([
    PROPOSAL,
    { ...PROPOSAL, by: null },
    AUDIT,
    { ...AUDIT, by: null },
    PART,
    BATCH,
    VERDICT,
    EPOCH,
    { ...EPOCH, at: 2 ** 50 },
    STATE,
  ])('$kind there and back', (record) => {
    expect(codec.decode(codec.encode(record))).toEqual({ record });
  });

  test('the largest definitions before and after, under the longest names, fit into one record', () => {
    expect(Buffer.byteLength(JSON.stringify(LARGE))).toBeGreaterThan(DEFINITION_BYTES_MAX - 40);
    const by = { name: '\u0001'.repeat(200), how: 'token', requestId: 'x'.repeat(128), atMs: 1e12 };
    const group = `/attachment/topic/${'x'.repeat(458)}`;
    const record = { ...AUDIT, group, by, before: LARGE, after: LARGE };
    const value = codec.encode(record);
    expect(value.length).toBeLessThan(MAX_RECORD_BYTES);
    expect(codec.decode(value)).toEqual({ record });
    expect(codec.decode(codec.encode({ ...PROPOSAL, group, by, definition: LARGE }))).toHaveProperty('record');
  });

  test.each([
    ['a proposal that leaves no room for what was before', { ...PROPOSAL, definition: { x: 'x'.repeat(33_000) } }],
    ['nobody who asked', { ...AUDIT, by: { ...BY, name: '' } }],
    ['a time that is none', { ...PROPOSAL, by: { ...BY, atMs: -1 } }],
    ['a revision that is none', { ...AUDIT, revision: 0.5 }],
    ['a part that deletes', { ...PART, entries: [{ ...ENTRY, definition: null }] }],
    ['a part that attaches', { ...PART, entries: [{ ...ENTRY, group: '/attachment/tenant/acme' }] }],
    ['a part without entries', { ...PART, entries: {} }],
    ['a batch of too many parts', { ...BATCH, parts: 10_001 }],
    ['a batch that deletes', { ...BATCH, entries: [{ ...ENTRY, definition: null }] }],
    ['a batch without entries', { ...BATCH, entries: undefined }],
    ['a verdict that says neither', { ...VERDICT, isAccepted: null }],
    ['no definition', { ...AUDIT, after: 'x' }],
    ['a log that begins where positions would not stay exact', { ...EPOCH, base: BASE_MAX + 1 }],
    ['a log that begins ahead of its offsets', { ...EPOCH, at: -1 }],
    ['a state without what its writer adds to offsets', { ...STATE, shift: undefined }],
    ['a state whose writer adds too much', { ...STATE, shift: BASE_MAX + 1 }],
  ])('%s is not taken', (_, body) => {
    expect(codec.decode(seal(body))).toEqual({ cause: 'absurd-content' });
  });

  test('a proposal of a node that does not say who asked is taken', () => {
    const { by: _, ...silent } = PROPOSAL;
    expect(codec.decode(seal(silent))).toHaveProperty('record');
  });
});
