import { describe, expect, it } from 'vitest';
import { LogEpoch } from '../../../src/topic/kafka/log-epoch.js';

describe('the epoch of a log', () => {
  it("is the topic's id, the same however often it is found", () => {
    const epoch = new LogEpoch();
    expect([epoch.found('id'), epoch.found('id'), epoch.name]).toEqual([false, false, 'id']);
    epoch.missing();
    expect([epoch.found('id'), epoch.name]).toEqual([false, 'id']);
  });

  it('is another one when the topic has another id, missing in between or not', () => {
    const epoch = new LogEpoch();
    expect([epoch.found('one'), epoch.found('two'), epoch.name]).toEqual([false, true, 'two']);
    epoch.missing();
    expect([epoch.found('three'), epoch.name]).toEqual([true, 'three']);
  });

  it('names where it was shortened, in the same way for all who saw it', () => {
    const epochs = [new LogEpoch(), new LogEpoch()];
    for (const epoch of epochs) epoch.found('id');
    epochs[0]?.shortened(3, 7);
    epochs[0]?.shortened(1, 5);
    epochs[1]?.shortened(1, 5);
    epochs[1]?.shortened(3, 7);
    expect(epochs.map(({ name }) => name)).toEqual(['id/1@5/3@7', 'id/1@5/3@7']);
    expect([epochs[0]?.found('new'), epochs[0]?.name]).toEqual([true, 'new']);
  });

  it('where topics have no ids, is another one after the topic was missing', () => {
    const epoch = new LogEpoch();
    expect([epoch.found(null), epoch.found(null)]).toEqual([false, false]);
    const before = epoch.name;
    epoch.missing();
    expect(epoch.found(null)).toBe(true);
    expect(epoch.name).not.toBe(before);
  });

  it('goes on when brokers begin to tell ids, or stop', () => {
    const epoch = new LogEpoch();
    expect([epoch.found(null), epoch.found('id'), epoch.found(null), epoch.found('id')]).toEqual(Array(4).fill(false));
  });
});
