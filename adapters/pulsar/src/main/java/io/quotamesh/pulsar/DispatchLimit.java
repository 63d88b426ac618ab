package io.quotamesh.pulsar;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.commons.lang3.reflect.FieldUtils;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiterAsyncTokenBucketImpl;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Dispatch of a group: an account that its topics share, because Pulsar has no limiter for that.
 *
 * A topic's limiter is replaced by one that also asks the account. A dispatcher that is refused sleeps for a
 * second, whatever comes meanwhile; so it is woken as soon as there is something in the account.
 */
final class DispatchLimit {
  private static final Logger LOG = LoggerFactory.getLogger(DispatchLimit.class);
  /** Null where this Pulsar has none. */
  static final Field LIMITER_FIELD = FieldUtils.getField(PersistentTopic.class, "dispatchRateLimiter", true);
  /** Covers two ticks that come late. */
  private static final double DEPTH_SECONDS = 0.1;
  /** Who was woken asks again after it has read, and most reads of a bookie take less. */
  private static final double READ_SECONDS = 0.12;

  private final Map<PersistentTopic, GroupLimiter> limiters = new HashMap<>();
  private final Account[] accounts = {new Account(), new Account()};
  private double sinceRefusalSeconds = Double.POSITIVE_INFINITY;

  void keep(Limit limit, Set<PersistentTopic> topics, double seconds) {
    for (int unit = 0; unit < 2; unit++) {
      double depth = Math.max(1, Math.max(limit.depth()[unit], limit.rate()[unit] * DEPTH_SECONDS));
      accounts[unit].fill(limit.rate()[unit], depth, seconds);
    }
    Set<PersistentTopic> limited = limit.isUnlimited() ? Set.of() : topics;
    limiters.forEach((topic, limiter) -> {
      if (!limited.contains(topic)) limiter.remove();
    });
    limiters.keySet().retainAll(limited);
    for (var topic : limited) limiters.computeIfAbsent(topic, GroupLimiter::new);
    var refused = new ArrayList<>(limiters.values());
    refused.removeIf(limiter -> !limiter.isRefused);
    sinceRefusalSeconds = refused.isEmpty() ? sinceRefusalSeconds + seconds : 0;
    if (accounts[Limit.MESSAGES].available() == 0 || accounts[Limit.BYTES].available() == 0) return;
    // Whoever comes first may take all.
    Collections.shuffle(refused);
    refused.forEach(GroupLimiter::wake);
  }

  /** Whether somebody was refused of late. */
  boolean isDry() {
    return sinceRefusalSeconds < READ_SECONDS;
  }

  void release() {
    keep(Limit.NONE, Set.of(), 0);
  }

  /** Pulsar's limiter with the limits that the topic has of its own, and those of the group. */
  private final class GroupLimiter extends DispatchRateLimiterAsyncTokenBucketImpl {
    private final Optional<DispatchRateLimiter> before;
    private volatile boolean isRefused;

    GroupLimiter(PersistentTopic topic) {
      super(topic, Type.TOPIC);
      before = topic.getDispatchRateLimiter();
      put(Optional.of(this));
    }

    private void put(Optional<DispatchRateLimiter> limiter) {
      try {
        FieldUtils.writeField(LIMITER_FIELD, topic, limiter);
      } catch (IllegalAccessException denied) {
        throw new IllegalStateException(denied);
      }
    }

    /** A topic that fails here, perhaps because it is closing, must not keep the limiters at the others. */
    void remove() {
      try {
        put(before);
        topic.updateDispatchRateLimiter();
        wake();
      } catch (RuntimeException | LinkageError failure) {
        LOG.warn("quotamesh: the dispatch limiter of {} may be out of date", topicName, failure);
      }
    }

    void wake() {
      isRefused = false;
      for (var subscription : topic.getSubscriptions().values()) {
        var dispatcher = subscription.getDispatcher();
        // Asked for no more messages than before, it looks whether it may read.
        if (dispatcher != null) dispatcher.getConsumers().forEach(consumer -> dispatcher.consumerFlow(consumer, 0));
      }
    }

    private long least(Account account, long own) {
      long ofGroup = account.available();
      if (ofGroup == 0) isRefused = true;
      return ofGroup < 0 ? own : own < 0 ? ofGroup : Math.min(own, ofGroup);
    }

    @Override
    public long getAvailableDispatchRateLimitOnMsg() {
      return least(accounts[Limit.MESSAGES], super.getAvailableDispatchRateLimitOnMsg());
    }

    @Override
    public long getAvailableDispatchRateLimitOnByte() {
      return least(accounts[Limit.BYTES], super.getAvailableDispatchRateLimitOnByte());
    }

    @Override
    public void consumeDispatchQuota(long messages, long bytes) {
      super.consumeDispatchQuota(messages, bytes);
      accounts[Limit.MESSAGES].spend(messages);
      accounts[Limit.BYTES].spend(bytes);
    }

    @Override
    public boolean isDispatchRateLimitingEnabled() {
      return true;
    }
  }
}
