package io.quotamesh.pulsar;

/**
 * Whether somebody wants more than the limit, and not only for a moment. Who wants as much as the limit finds the bucket
 * dry now and then; taken for more, it would be given twice its share each time, and the others that much less.
 */
final class HeldBack {
  private static final double BEGINS_SECONDS = 0.1;
  private static final double ENDS_SECONDS = 0.05;
  private static final double MOST_SECONDS = 0.15;
  /** After a pause of the broker all is dry for a moment. */
  private static final double TICK_SECONDS_MAX = 0.06;

  /** Rises while it is dry, and falls while it is not. */
  private double drySeconds;
  volatile boolean isSo;

  void look(boolean isDry, double seconds) {
    double step = Math.min(TICK_SECONDS_MAX, seconds);
    drySeconds = Math.max(0, Math.min(MOST_SECONDS, drySeconds + (isDry ? step : -step)));
    if (drySeconds >= BEGINS_SECONDS) isSo = true;
    if (drySeconds < ENDS_SECONDS) isSo = false;
  }
}
