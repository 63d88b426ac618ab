package io.quotamesh.pulsar;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.ResourceGroup;

/** A resource group at this broker: its two lanes, and the limiters that keep them. */
final class Group {
  private static final double THROTTLED_SECONDS = 0.5;

  final String name;
  final Lane publish;
  final Lane dispatch;
  /** By Pulsar's metadata; null = not known yet, or deleted. */
  volatile ResourceGroup pulsarQuota;
  volatile int topics;
  private final Consumer<ResourceGroupPublishLimiter> wake;
  private final DispatchLimit dispatchLimit = new DispatchLimit();
  private final Set<PersistentTopic> persistentTopics = new HashSet<>();
  private double sinceThrottledSeconds = Double.POSITIVE_INFINITY;
  /** Null while it is not kept. */
  volatile PublishLimit publishLimit;

  Group(String name, boolean isNodeSource, Consumer<ResourceGroupPublishLimiter> wake) {
    this.name = name;
    this.wake = wake;
    publish = new Lane(name, "publish", isNodeSource);
    dispatch = new Lane(name, "dispatch", isNodeSource);
  }

  List<Lane> lanes() {
    return List.of(publish, dispatch);
  }

  void beginCount(double seconds) {
    topics = 0;
    persistentTopics.clear();
    sinceThrottledSeconds += seconds;
  }

  void count(AbstractTopic topic, Counters grown) {
    topics++;
    publish.count(grown.messagesIn(), grown.bytesIn());
    dispatch.count(grown.messagesOut(), grown.bytesOut());
    if (grown.throttled() > 0) sinceThrottledSeconds = 0;
    if (topic instanceof PersistentTopic persistent) persistentTopics.add(persistent);
  }

  /**
   * @param limiter null = the broker has no such group
   * @return whether there is something to keep; what has no quota is left as it would be without us
   */
  boolean keep(ResourceGroupPublishLimiter limiter, int brokersAlive, long nowNanos, double seconds) {
    ResourceGroup quota = pulsarQuota;
    if (limiter == null || quota == null) {
      release();
      return false;
    }
    if (publishLimit == null || !publishLimit.isOf(limiter)) publishLimit = new PublishLimit(limiter, wake);
    var publishQuota = Limit.ofPulsar(quota.getPublishRateInMsgs(), quota.getPublishRateInBytes());
    var dispatchQuota = Limit.ofPulsar(quota.getDispatchRateInMsgs(), quota.getDispatchRateInBytes());
    publishLimit.keep(publish.look(nowNanos, publishQuota, brokersAlive), publish.admitted, seconds);
    dispatchLimit.keep(dispatch.look(nowNanos, dispatchQuota, brokersAlive), persistentTopics, seconds);
    boolean isThrottled = sinceThrottledSeconds < THROTTLED_SECONDS;
    publish.heldBack.look(publishLimit.isDry() && (isThrottled || publishLimit.isIndebted()), seconds);
    dispatch.heldBack.look(dispatchLimit.isDry(), seconds);
    return true;
  }

  void release() {
    dispatchLimit.release();
    ResourceGroup quota = pulsarQuota;
    if (publishLimit != null && quota != null) publishLimit.release(quota);
    publishLimit = null;
  }
}
