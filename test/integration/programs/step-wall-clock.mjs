/** Loaded before a node (`--import`): with SIGUSR2 the clock on the wall goes back by an hour, for this process. */
const STEP_MS = -3_600_000;
const RealDate = Date;
let stepMs = 0;

globalThis.Date = class extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(RealDate.now() + stepMs);
    else super(...given);
  }

  static now() {
    return RealDate.now() + stepMs;
  }
};

process.on('SIGUSR2', () => {
  stepMs = STEP_MS;
});
