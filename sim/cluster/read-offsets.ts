import type { CoordinatorEvent } from '../../src/core/base/protocol/events-and-effects.js';

export class ReadOffsets {
  epoch = '';
  readonly next: number[];

  constructor(partitions: number) {
    this.next = new Array<number>(partitions).fill(0);
  }

  follow(event: CoordinatorEvent): void {
    if (event.kind === 'epoch-began') {
      this.epoch = event.epoch;
      this.next.fill(0);
    } else if (event.kind === 'records-read') {
      for (const { partition, offset } of event.records) {
        if (offset >= this.next[partition]) this.next[partition] = offset + 1;
      }
    }
  }

  isEqual(other: ReadOffsets): boolean {
    const { epoch, next } = other;
    if (this.epoch !== epoch || this.next.length !== next.length) return false;
    return this.next.every((mine, partition) => mine === next[partition]);
  }
}
