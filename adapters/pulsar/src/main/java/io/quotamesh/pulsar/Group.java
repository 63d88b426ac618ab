package io.quotamesh.pulsar;

import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.pulsar.broker.resourcegroup.ResourceGroup;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** A resource group at this broker: what its topics admitted, and its limits. */
final class Group {
  static final int PUBLISH = 0;
  static final int DISPATCH = 1;
  private static final long THROTTLED_NANOS = 500_000_000L;

  final String name;
  final Share[] shares = {new Share(), new Share()};
  /** By direction, by Pulsar's metadata; null = not known yet, or deleted. */
  volatile double[][] pulsarQuota;
  private final boolean isNodeSource;
  final Limit[] limits = new Limit[2];
  /** Units since the broker started, by direction. */
  final long[][] admitted = new long[2][2];
  private final long[] publishedNow = new long[2];
  private final Set<PersistentTopic> persistentTopics = new HashSet<>();
  private final DispatchLimit dispatch = new DispatchLimit();
  private final Consumer<ResourceGroupPublishLimiter> wake;
  private final HeldBack[] heldBack = {new HeldBack(), new HeldBack()};
  private PublishLimit publish;
  private long throttledNanos;
  private long keptNanos;
  int topics;

  Group(String name, boolean isNodeSource, Consumer<ResourceGroupPublishLimiter> wake) {
    this.name = name;
    this.isNodeSource = isNodeSource;
    this.wake = wake;
  }

  void beginCount() {
    topics = 0;
    publishedNow[Limit.MESSAGES] = publishedNow[Limit.BYTES] = 0;
    persistentTopics.clear();
  }

  /** @param grown of the topic's four counters since it was counted last: messages and bytes in, then out */
  void count(AbstractTopic topic, long[] grown, boolean wasThrottled, long nowNanos) {
    topics++;
    for (int unit = 0; unit < 2; unit++) {
      publishedNow[unit] += grown[unit];
      admitted[PUBLISH][unit] += grown[unit];
      admitted[DISPATCH][unit] += grown[2 + unit];
    }
    if (topic instanceof PersistentTopic persistent) persistentTopics.add(persistent);
    if (wasThrottled) throttledNanos = nowNanos;
  }

  void keep(ResourceGroup group, long nowNanos, int brokersAlive) {
    var limiter = group.getResourceGroupPublishLimiter();
    if (publish == null || !publish.isOf(limiter)) publish = new PublishLimit(limiter, wake);
    double seconds = keptNanos == 0 ? 0 : (nowNanos - keptNanos) / 1e9;
    keptNanos = nowNanos;
    for (int direction = 0; direction < 2; direction++) {
      limits[direction] = shares[direction].at(nowNanos, quota(direction), brokersAlive);
    }
    publish.keep(limits[PUBLISH], publishedNow, nowNanos);
    dispatch.keep(limits[DISPATCH], persistentTopics, seconds);
    boolean isThrottled = throttledNanos != 0 && nowNanos - throttledNanos < THROTTLED_NANOS;
    heldBack[PUBLISH].look(publish.isDry() && (isThrottled || publish.isIndebted()), seconds);
    heldBack[DISPATCH].look(dispatch.isDry(), seconds);
  }

  /** The quota of the whole cluster. */
  private double[] quota(int direction) {
    Share.Told told = shares[direction].told;
    return isNodeSource && told != null ? told.quota() : pulsarQuota[direction];
  }

  Lane lane(int direction) {
    long[] units = admitted[direction];
    return new Lane(this, direction, units[Limit.MESSAGES], units[Limit.BYTES], heldBack[direction].isSo());
  }

  void release() {
    dispatch.release();
    if (publish != null && pulsarQuota != null) publish.release(pulsarQuota[PUBLISH]);
    publish = null;
  }

  /** How often the limiter was written, by us and by others. */
  long[] writes() {
    return publish == null ? new long[2] : new long[] {publish.writes, publish.overwritten};
  }

  /** What the node is told of a direction; its counts never fall. */
  record Lane(Group group, int direction, long messages, long bytes, boolean isHeldBack) {}
}
