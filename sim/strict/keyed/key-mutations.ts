import { LaneRows } from '../../../src/core/strict/lane-rows.js';
import { StrictFold } from '../../../src/core/strict/strict-fold.js';

/** Faults put into lanes of keys on purpose: the judge must find each. Each returns what takes it out again. */
export const KEY_MUTATIONS: Readonly<Record<string, () => () => void>> = {
  /** Takes rows of before its start for the order that counted. */
  'every-row-is-sure': () => replaced(LaneRows.prototype, 'isSure', { value: () => true }),
  /** Ends a lane at rest, whatever it has to remember. */
  'ends-what-was-spent': () => {
    return replaced(StrictFold.prototype, 'isSpent', {
      value(this: StrictFold) {
        return this.isAtRest;
      },
    });
  },
  /** Ends a lane while one node holds slots of it. */
  'ends-while-held': () => {
    return replaced(StrictFold.prototype, 'isAtRest', {
      get(this: StrictFold) {
        return this.holders.size <= 1;
      },
    });
  },
};

function replaced(of: object, name: string, by: PropertyDescriptor): () => void {
  const before = Object.getOwnPropertyDescriptor(of, name) as PropertyDescriptor;
  Object.defineProperty(of, name, { ...by, configurable: true });
  return () => Object.defineProperty(of, name, before);
}
