import fc from 'fast-check';

/** The same cases in every run; QUOTAMESH_TEST_SEED tries others (fast-check prints the seed of a failure). */
const PINNED = 20_261_121;

fc.configureGlobal({ seed: Number(process.env.QUOTAMESH_TEST_SEED ?? PINNED) });
