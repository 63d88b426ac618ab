package io.quotamesh.pulsar;

import java.util.concurrent.atomic.AtomicLong;

/** Units that may be spent now. Filled by our thread, spent by the broker's; what is spent too much is paid back. */
final class Account {
  static final long UNLIMITED = -1;
  /** If our thread hangs, nobody fills the account, and dispatch must not stop with it. */
  private static final long FORSAKEN_NANOS = 10_000_000_000L;

  private final AtomicLong units = new AtomicLong();
  private double fraction;
  private volatile boolean isLimited;
  volatile long filledNanos;

  void fill(double rate, double depth, double seconds) {
    filledNanos = System.nanoTime();
    isLimited = rate != Limit.UNLIMITED;
    if (!isLimited) {
      units.set(0);
      return;
    }
    double due = fraction + rate * seconds;
    long whole = (long) due;
    fraction = due % 1;
    // The sum of both may be more than a long holds.
    units.updateAndGet(had -> Math.min(had, (long) depth - whole) + whole);
  }

  private boolean isInForce() {
    return isLimited && System.nanoTime() - filledNanos < FORSAKEN_NANOS;
  }

  long available() {
    return isInForce() ? Math.max(0, units.get()) : UNLIMITED;
  }

  void spend(long spent) {
    if (isInForce()) units.addAndGet(-spent);
  }
}
