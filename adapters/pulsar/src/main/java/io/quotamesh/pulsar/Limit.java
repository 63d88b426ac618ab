package io.quotamesh.pulsar;

/** Units per second, and units of depth; each of messages, then bytes. Infinity = unlimited. */
record Limit(double[] rate, double[] depth) {
  static final int MESSAGES = 0;
  static final int BYTES = 1;
  static final double UNLIMITED = Double.POSITIVE_INFINITY;
  static final Limit NONE = new Limit(new double[] {UNLIMITED, UNLIMITED}, new double[] {UNLIMITED, UNLIMITED});

  boolean isUnlimited() {
    return rate[MESSAGES] == UNLIMITED && rate[BYTES] == UNLIMITED;
  }

  /** Pulsar says −1 or nothing where there is no limit. */
  static double[] ofPulsar(Number messages, Number bytes) {
    return new double[] {ofPulsar(messages), ofPulsar(bytes)};
  }

  private static double ofPulsar(Number rate) {
    return rate == null || rate.longValue() < 0 ? UNLIMITED : rate.doubleValue();
  }
}
