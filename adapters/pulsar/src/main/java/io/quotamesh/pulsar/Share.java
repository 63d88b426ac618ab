package io.quotamesh.pulsar;

/**
 * What this broker may admit of one direction of a group: what the node told last, for as long as that is valid; then
 * quota ÷ brokers alive, which needs nobody.
 */
final class Share {
  enum Source { NODE, ALONE }

  private Limit told;
  private long validUntilNanos;
  private Source source = Source.ALONE;

  void tell(Limit limit, long validUntilNanos) {
    told = limit;
    this.validUntilNanos = validUntilNanos;
  }

  /** @param quota of the whole cluster; a node that tells more than it is not believed */
  Limit at(long nowNanos, double[] quota, int brokersAlive) {
    source = told != null && nowNanos - validUntilNanos < 0 ? Source.NODE : Source.ALONE;
    var rate = new double[2];
    var depth = new double[2];
    for (int unit = 0; unit < 2; unit++) {
      double alone = quota[unit] / Math.max(1, brokersAlive);
      rate[unit] = source == Source.NODE ? Math.min(told.rate()[unit], quota[unit]) : alone;
      // Alone with the depth that Pulsar gives its limiters: a second.
      depth[unit] = source == Source.NODE ? told.depth()[unit] : alone;
    }
    return new Limit(rate, depth);
  }

  Source source() {
    return source;
  }
}
