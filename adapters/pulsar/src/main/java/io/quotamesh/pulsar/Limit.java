package io.quotamesh.pulsar;

/** Units per second, and units of depth; each of messages, then bytes. Infinity = unlimited. */
record Limit(double[] rate, double[] depth) {
  static final int MESSAGES = 0;
  static final int BYTES = 1;
  static final double UNLIMITED = Double.POSITIVE_INFINITY;

  boolean isUnlimited() {
    return rate[MESSAGES] == UNLIMITED && rate[BYTES] == UNLIMITED;
  }

  static double[] ofPulsar(Number messages, Number bytes) {
    return new double[] {ofPulsar(messages), ofPulsar(bytes)};
  }

  /** Pulsar's −1 and absent. */
  private static double ofPulsar(Number rate) {
    return rate == null || rate.longValue() < 0 ? UNLIMITED : rate.doubleValue();
  }
}
