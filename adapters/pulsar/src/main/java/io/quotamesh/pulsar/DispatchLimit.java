package io.quotamesh.pulsar;

import java.util.IdentityHashMap;
import java.util.Map;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.impl.DispatchRateImpl;

/**
 * Dispatch of a group. Pulsar has no limiter for that, so the limiters of its topics share an account.
 *
 * A topic's limiter gets tokens once a second, and one that is replaced starves until then. So it is set once, to the
 * quota of the whole cluster, and what exceeds the share is taken out of it. A namespace's or topic's own dispatch rate
 * goes before ours.
 */
final class DispatchLimit {
  /** A limiter gets the tokens of so many seconds at once. */
  private static final double LUMP_SECONDS = 1;

  /** What the broker's own configuration says of a topic. */
  private final Map<PersistentTopic, DispatchRateImpl> own = new IdentityHashMap<>();
  /** Units that the group may have dispatched by now and has not; below 0: has dispatched too much. */
  private final double[] account = new double[2];
  private boolean isDry;

  /** @param dispatched by topic, units since the last call */
  void keep(Limit limit, double[] quota, Map<PersistentTopic, long[]> dispatched, double seconds) {
    isDry = false;
    own.keySet().retainAll(dispatched.keySet());
    if (limit.isUnlimited()) {
      release();
      return;
    }
    for (int unit = 0; unit < 2; unit++) {
      double rate = limit.rate()[unit];
      double spent = 0;
      for (long[] one : dispatched.values()) spent += one[unit];
      if (rate == Limit.UNLIMITED) account[unit] = 0;
      else account[unit] = Math.min(limit.depth()[unit], account[unit] + rate * seconds - spent);
    }
    for (PersistentTopic topic : dispatched.keySet()) {
      if (!isOurs(topic, quota)) continue;
      topic.getDispatchRateLimiter().ifPresent(limiter -> cut(limiter, limit));
    }
  }

  /** Whether some topic may dispatch nothing at this moment. */
  boolean isDry() {
    return isDry;
  }

  void release() {
    own.forEach((topic, before) -> {
      topic.getHierarchyTopicPolicies().getDispatchRate().updateBrokerValue(before);
      topic.updateDispatchRateLimiter();
    });
    own.clear();
  }

  private boolean isOurs(PersistentTopic topic, double[] quota) {
    var policy = topic.getHierarchyTopicPolicies().getDispatchRate();
    var set = policy.getBrokerValue();
    int messages = (int) Math.min(Integer.MAX_VALUE, toPulsar(quota[Limit.MESSAGES]));
    long bytes = toPulsar(quota[Limit.BYTES]);
    boolean isSet = own.containsKey(topic) && set != null
        && set.getDispatchThrottlingRateInMsg() == messages && set.getDispatchThrottlingRateInByte() == bytes;
    if (!isSet) {
      own.putIfAbsent(topic, set);
      policy.updateBrokerValue(DispatchRateImpl.builder().dispatchThrottlingRateInMsg(messages)
          .dispatchThrottlingRateInByte(bytes).ratePeriodInSecond((int) LUMP_SECONDS).build());
      topic.updateDispatchRateLimiter();
    }
    return policy.get() == policy.getBrokerValue();
  }

  private void cut(DispatchRateLimiter limiter, Limit limit) {
    long messages = cut(limit, Limit.MESSAGES, limiter.getAvailableDispatchRateLimitOnMsg());
    long bytes = cut(limit, Limit.BYTES, limiter.getAvailableDispatchRateLimitOnByte());
    if (messages > 0 || bytes > 0) limiter.consumeDispatchQuota(messages, bytes);
  }

  /** @param available −1 where the limiter has no such limit */
  private long cut(Limit limit, int unit, long available) {
    double rate = limit.rate()[unit];
    if (rate == Limit.UNLIMITED || available < 0) return 0;
    if (available == 0) isDry = true;
    return (long) Math.max(0, Math.ceil(available - Math.max(0, account[unit] + rate * LUMP_SECONDS)));
  }

  private static long toPulsar(double quota) {
    return quota == Limit.UNLIMITED ? -1 : Math.max(1, (long) quota);
  }
}
