import fc from 'fast-check';

/** Plays the sixth of seeds that vitest.config.ts has drawn; `all` in npm run test:long. */
const asked = process.env.TEST_SIXTH ?? 'all';
const sixth = asked === 'all' ? null : Number(asked);
/** Shifts seeds that are not fast-check's. */
export const drawn = sixth ?? 0;

/** The same cases in every run; QUOTAMESH_TEST_SEED tries others (fast-check prints the seed of a failure). */
const PINNED = 20_261_121;
fc.configureGlobal({ seed: Number(process.env.QUOTAMESH_TEST_SEED ?? PINNED), ...runs(100) });

/** Returns how many cases of `whole` are played: the first sixth, or all of them. *Why:* they are the same in every run. */
export function runs(whole: number): { readonly numRuns: number } {
  return { numRuns: partOf(whole) };
}

/** Returns the drawn sixth of `seeds`, at least one. */
export function someOf<T>(seeds: readonly T[]): T[] {
  if (sixth === null) return [...seeds];
  const from = sixth % Math.min(6, seeds.length);
  return seeds.filter((_, at) => at % 6 === from);
}

/** Tests if this one of many alike is in the drawn sixth: `test.runIf(isDrawn(4))`. */
export function isDrawn(at: number): boolean {
  return sixth === null || at % 6 === sixth;
}

/** Returns a sixth of `whole`, rounded up, or all of it: for counts that follow from how much is played. */
export function partOf(whole: number): number {
  return sixth === null ? whole : Math.ceil(whole / 6);
}

/**
 * Draws texts of any code points but halves of pairs, as `fc.string({ unit: 'binary' })` does. *Why:* that builds a table of
 * a million of them first, 1.5 s of CPU.
 */
export function codePoints(maxLength: number): fc.Arbitrary<string> {
  const codePoint = fc.integer({ min: 0, max: 0x10ffff - 0x800 }).map((at) => (at < 0xd800 ? at : at + 0x800));
  return fc.array(codePoint, { maxLength }).map((points) => String.fromCodePoint(...points));
}
