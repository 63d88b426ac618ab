package io.quotamesh.pulsar;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.util.Map;

/**
 * One direction of a resource group at this broker: what its topics have admitted, and what they may admit. That is what
 * the node told last, for as long as it is valid; then quota ÷ brokers alive, which needs nobody.
 */
final class Lane {
  final String group;
  /** As the node and the metrics call it. */
  final String direction;
  final HeldBack heldBack = new HeldBack();
  /** Units since the broker started. */
  final long[] admitted = new long[2];
  /** Set by the thread that talks to the node. */
  volatile Told told;
  /** Null before the first look. */
  volatile Limit limit;
  volatile boolean isAlone = true;
  private final boolean isNodeSource;

  /** What the node said; `quota` of the whole cluster. */
  record Told(Limit limit, double[] quota, long validUntilNanos) {}

  Lane(String group, String direction, boolean isNodeSource) {
    this.group = group;
    this.direction = direction;
    this.isNodeSource = isNodeSource;
  }

  void count(long messages, long bytes) {
    admitted[Limit.MESSAGES] += messages;
    admitted[Limit.BYTES] += bytes;
  }

  /** @param pulsarQuota of the whole cluster, by Pulsar; a node that tells more than the quota is not believed */
  Limit look(long nowNanos, double[] pulsarQuota, int brokersAlive) {
    Told now = told;
    isAlone = now == null || nowNanos - now.validUntilNanos >= 0;
    double[] quota = isNodeSource && now != null ? now.quota : pulsarQuota;
    var rate = new double[2];
    var depth = new double[2];
    for (int unit = 0; unit < 2; unit++) {
      double alone = quota[unit] / Math.max(1, brokersAlive);
      rate[unit] = isAlone ? alone : Math.min(now.limit.rate()[unit], quota[unit]);
      // Alone with the depth that Pulsar gives its limiters: a second.
      depth[unit] = isAlone ? alone : now.limit.depth()[unit];
    }
    limit = new Limit(rate, depth);
    return limit;
  }

  /** @param topics of the group at this broker */
  Counts counts(int topics) {
    var units = Map.of("messages", admitted[Limit.MESSAGES], "bytes", admitted[Limit.BYTES]);
    return new Counts(this, group, direction, heldBack.isSo, topics, units);
  }

  /** What the node is told, as JSON has it. */
  record Counts(
      @JsonIgnore Lane lane, String group, String direction, boolean heldBack, int topics, Map<String, Long> admitted) {}
}
