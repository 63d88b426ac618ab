package io.quotamesh.pulsar;

/**
 * What this broker may admit of one direction of a group: what the node told last, for as long as that is valid; then
 * quota ÷ brokers alive, which needs nobody.
 */
final class Share {
  /** What the node said; `quota` of the whole cluster. */
  record Told(Limit limit, double[] quota, long validUntilNanos) {}

  /** Set by the thread that talks to the node. */
  volatile Told told;
  private boolean isAlone = true;

  /** @param quota of the whole cluster; a node that tells more than it is not believed */
  Limit at(long nowNanos, double[] quota, int brokersAlive) {
    Told now = told;
    isAlone = now == null || nowNanos - now.validUntilNanos >= 0;
    var rate = new double[2];
    var depth = new double[2];
    for (int unit = 0; unit < 2; unit++) {
      double alone = quota[unit] / Math.max(1, brokersAlive);
      rate[unit] = isAlone ? alone : Math.min(now.limit.rate()[unit], quota[unit]);
      // Alone with the depth that Pulsar gives its limiters: a second.
      depth[unit] = isAlone ? alone : now.limit.depth()[unit];
    }
    return new Limit(rate, depth);
  }

  boolean isAlone() {
    return isAlone;
  }
}
