package io.quotamesh.pulsar;

import java.util.concurrent.atomic.AtomicLong;

/** Units that may be spent now. Filled by our thread, spent by the broker's; what is spent too much is paid back. */
final class Account {
  static final long UNLIMITED = -1;
  private final AtomicLong units = new AtomicLong();
  private double fraction;
  private volatile boolean isLimited;

  void fill(double rate, double depth, double seconds) {
    isLimited = rate != Limit.UNLIMITED;
    if (!isLimited) {
      units.set(0);
      return;
    }
    fraction += rate * seconds;
    long whole = (long) fraction;
    fraction -= whole;
    units.updateAndGet(had -> Math.min(had + whole, (long) depth));
  }

  long available() {
    return isLimited ? Math.max(0, units.get()) : UNLIMITED;
  }

  void spend(long spent) {
    if (isLimited) units.addAndGet(-spent);
  }
}
