/**
 * Names the state of this node's entry, its row in the log:
 *
 *     none ──→ awaited ──→ due ⇄ written
 *       │                   ↑       │
 *       ├───────────────────┘       ↓
 *       └──────────────────────── ending
 *
 *     none     the log has no row of it, and needs none
 *     awaited  its first rates go with the next record of its bundle
 *     due      a record has to carry it
 *     written  the newest record says what there is to say
 *     ending   its last record is on the way: another entry begins when the log has no row of this one any more. Its
 *              charge counts from 0, and the bucket of whoever still knew the old row would rise by all that it charged
 */
export type EntryLife = 'none' | 'awaited' | 'due' | 'written' | 'ending';

export class OwnEntry {
  life: EntryLife = 'none';

  /** True from the first report on, until the entry ends. */
  get isOpen(): boolean {
    return this.life === 'due' || this.life === 'written';
  }

  /** Notes that the log lacks the entry, or has another life's; an open one stays open. */
  forget(): void {
    if (this.life === 'ending') this.life = 'none';
    if (this.life === 'due') this.life = 'written';
  }
}
