package io.quotamesh.pulsar;

import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.pulsar.broker.resourcegroup.ResourceGroup;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;

/** A resource group at this broker: what its topics admitted, and its limits. */
final class Group {
  static final int PUBLISH = 0;
  static final int DISPATCH = 1;
  /** A dry bucket has tokens for a moment each time that somebody is woken; dispatchers come once a second. */
  private static final long[] HELD_NANOS = {200_000_000L, 1_200_000_000L};
  private static final long THROTTLED_NANOS = 500_000_000L;

  final String name;
  final Share[] shares = {new Share(), new Share()};
  /** By direction; by Pulsar's metadata, and by the node where that is the source; null = not known yet. */
  volatile double[][] pulsarQuota;
  final double[][] nodeQuota = new double[2][];
  final Limit[] limits = new Limit[2];
  /** Units since the broker started, by direction: admitted, and told of them. */
  final long[][] admitted = new long[2][2];
  private final double[][] told = new double[2][2];
  private final long[] publishedNow = new long[2];
  private final Map<PersistentTopic, long[]> dispatchedNow = new IdentityHashMap<>();
  private final DispatchLimit dispatch = new DispatchLimit();
  private final Consumer<ResourceGroupPublishLimiter> wake;
  private final long[] heldUntilNanos = new long[2];
  private final boolean[] isHeldBack = new boolean[2];
  private PublishLimit publish;
  private long throttledNanos;
  private long keptNanos;
  int topics;

  Group(String name, Consumer<ResourceGroupPublishLimiter> wake) {
    this.name = name;
    this.wake = wake;
  }

  void beginCount() {
    topics = 0;
    publishedNow[Limit.MESSAGES] = publishedNow[Limit.BYTES] = 0;
    dispatchedNow.clear();
  }

  /** @param grown of the topic's four counters since it was counted last: messages and bytes in, then out */
  void count(AbstractTopic topic, long[] grown, boolean wasThrottled, long nowNanos) {
    topics++;
    var dispatched = new long[] {grown[2], grown[3]};
    for (int unit = 0; unit < 2; unit++) {
      publishedNow[unit] += grown[unit];
      admitted[PUBLISH][unit] += grown[unit];
      admitted[DISPATCH][unit] += dispatched[unit];
    }
    if (topic instanceof PersistentTopic persistent) dispatchedNow.put(persistent, dispatched);
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
    dispatch.keep(limits[DISPATCH], quota(DISPATCH), dispatchedNow, seconds);
    boolean isThrottled = throttledNanos != 0 && nowNanos - throttledNanos < THROTTLED_NANOS;
    hold(PUBLISH, publish.isDry() && (isThrottled || publish.isIndebted()), nowNanos);
    hold(DISPATCH, dispatch.isDry(), nowNanos);
    for (int direction = 0; direction < 2; direction++) tellMore(direction, seconds);
  }

  /** The quota of the whole cluster. */
  double[] quota(int direction) {
    return nodeQuota[direction] != null ? nodeQuota[direction] : pulsarQuota[direction];
  }

  Lane lane(int direction) {
    double[] units = told[direction];
    return new Lane(name, direction, (long) units[Limit.MESSAGES], (long) units[Limit.BYTES], isHeldBack[direction]);
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

  private void hold(int direction, boolean isHeld, long nowNanos) {
    if (isHeld) heldUntilNanos[direction] = nowNanos + HELD_NANOS[direction];
    isHeldBack[direction] = heldUntilNanos[direction] != 0 && nowNanos - heldUntilNanos[direction] < 0;
  }

  /** Dispatch comes in lumps of a second; told as they come, the node would take them for a demand that swings. */
  private void tellMore(int direction, double seconds) {
    for (int unit = 0; unit < 2; unit++) {
      double untold = admitted[direction][unit] - told[direction][unit];
      double most = Math.max(limits[direction].rate()[unit] * seconds, untold * seconds);
      told[direction][unit] += direction == PUBLISH ? untold : Math.min(untold, most);
    }
  }

  /** What the node is told of a direction; its counts never fall. */
  record Lane(String group, int direction, long messages, long bytes, boolean isHeldBack) {}
}
