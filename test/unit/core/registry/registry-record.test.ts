import { describe, expect, test } from 'vitest';
import { attachedPath, attachmentName, registryKeys } from '../../../../src/core/beside/registry/registry-record.js';

const AUDIT_IDS = ['17', '17/attachment/tenant/acme'];

function allKeys(cluster: number): string[] {
  const keys = registryKeys(cluster);
  const entries = ['orders', ...['acme', 'acme/orders', 'acme/orders/new'].map(attachmentName)];
  return [
    ...['17', 'id'].map((id) => keys.proposal(id)),
    ...entries.flatMap((entry) => [keys.state(entry, 17), keys.state(entry, 18)]),
    ...AUDIT_IDS.map((id) => keys.audit(id)),
    ...['17', 'audit'].flatMap((node) => [keys.barrier(node), keys.epoch(`${node}/1`), keys.epoch(`${node}/2`)]),
    ...['17', 'audit'].flatMap((node) => [keys.yaml(node, 0), keys.yaml(node, 1)]),
  ];
}

describe('keys of the registry', () => {
  test('are different for all that they stand for, and for two clusters', () => {
    const all = [...allKeys(0x1a2b), ...allKeys(0x1a2c)];
    expect(new Set(all).size).toBe(all.length);
  });

  test('only those of the trail of the same cluster tell an id in it', () => {
    const { auditedBy, audit } = registryKeys(0x1a2b);
    const told = allKeys(0x1a2b).map((key) => [key, auditedBy(key)]);
    expect(told.filter(([, id]) => id !== null)).toEqual(AUDIT_IDS.map((id) => [audit(id), id]));
    expect(
      allKeys(0x1a2c)
        .map(auditedBy)
        .filter((id) => id !== null),
    ).toEqual([]);
  });
});

test.each(['acme', 'acme/orders', 'acme/orders/new'])('the name of an attachment of %s leads back to it', (path) => {
  expect(attachedPath(attachmentName(path))).toBe(path);
  expect(attachedPath(path)).toBeNull();
});
