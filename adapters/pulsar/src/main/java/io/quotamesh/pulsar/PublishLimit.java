package io.quotamesh.pulsar;

import java.util.function.Consumer;
import org.apache.pulsar.broker.qos.AsyncTokenBucket;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.common.policies.data.ResourceGroup;

/**
 * A group's own publish limiter, kept at the share of this broker.
 *
 * Its `update` puts full buckets in place, so their levels, debts too, are carried over: without that, ten changes a
 * second admit eleven times the rate. Each change also lets some producers sleep for a time that no longer fits. So
 * rates are written when they rise, and else once a second at most; what is written above the share, also the fraction
 * of a unit, is consumed in every tick.
 */
final class PublishLimit {
  private static final double WRITE_SECONDS = 1;
  private static final double RISE_RATIO = 1.02;
  /** Buckets hold at least so many seconds of the rate, so that ticks and wake-ups may come late. */
  private static final double DEPTH_SECONDS = 0.1;
  /** No broker admits so much, and from 2^58 on Pulsar's buckets stay empty. */
  private static final double RATE_MAX = 1e15;
  /** Pulsar wakes throttled producers when a bucket has the tokens of 0.01 s. */
  private static final double DRY_SECONDS = 0.02;

  private final ResourceGroupPublishLimiter limiter;
  private final Consumer<ResourceGroupPublishLimiter> wake;
  private final Unit[] units = {new Unit(Limit.MESSAGES), new Unit(Limit.BYTES)};
  private double sinceWriteSeconds;
  volatile long writes;
  volatile long overwritten;

  /** @param wake computes again for how long throttled producers sleep */
  PublishLimit(ResourceGroupPublishLimiter limiter, Consumer<ResourceGroupPublishLimiter> wake) {
    this.limiter = limiter;
    this.wake = wake;
  }

  /**
   * @param admitted units in total
   * @param seconds since the last call
   */
  void keep(Limit limit, long[] admitted, double seconds) {
    boolean isFirst = writes == 0;
    sinceWriteSeconds += seconds;
    var values = limiter.getResourceGroupPublishValues();
    boolean isOverwritten = !isFirst
        && (values.messages != units[Limit.MESSAGES].written || values.bytes != units[Limit.BYTES].written);
    if (isOverwritten) overwritten++;
    boolean isDue = isFirst || isOverwritten;
    for (Unit unit : units) {
      unit.look(limit, admitted, seconds, isOverwritten);
      isDue |= unit.isDue(sinceWriteSeconds);
    }
    if (isDue) write();
    for (Unit unit : units) unit.settle(isFirst ? 0 : seconds);
  }

  private void write() {
    limiter.update(units[Limit.MESSAGES].wanted, units[Limit.BYTES].wanted);
    for (Unit unit : units) unit.carryOver();
    sinceWriteSeconds = 0;
    writes++;
    wake.accept(limiter);
  }

  /** Whether one of the buckets holds producers up at this moment. */
  boolean isDry() {
    return units[Limit.MESSAGES].isDry() || units[Limit.BYTES].isDry();
  }

  /** Whether producers sleep because more was admitted than the limit. */
  boolean isIndebted() {
    return units[Limit.MESSAGES].level < 0 || units[Limit.BYTES].level < 0;
  }

  boolean isOf(ResourceGroupPublishLimiter other) {
    return limiter == other;
  }

  /** The group's own quota again, as if we had never been there. */
  void release(ResourceGroup quota) {
    limiter.update(quota);
    wake.accept(limiter);
  }

  /** The bucket of messages, or of bytes. */
  private final class Unit {
    private final int number;
    private double rate;
    private double depth;
    private long wanted;
    private long written;
    /** What was written above the share, and is not consumed yet. */
    private double owed;
    private long level;
    private long admittedBefore;

    Unit(int number) {
      this.number = number;
    }

    private AsyncTokenBucket bucket() {
      return number == Limit.MESSAGES ? limiter.getTokenBucketOnMessage() : limiter.getTokenBucketOnByte();
    }

    void look(Limit limit, long[] admitted, double seconds, boolean isOverwritten) {
      rate = limit.rate()[number];
      depth = Math.max(1, Math.max(limit.depth()[number], rate * DEPTH_SECONDS));
      // Pulsar takes 0 for unlimited, so the least that is written is 1.
      wanted = rate > RATE_MAX ? -1 : Math.max(1, (long) Math.ceil(rate));
      // Who wrote over it has put full buckets in place; what was in ours is known from what has been admitted.
      double ours = level + Math.max(0, written) * seconds - (admitted[number] - admittedBefore);
      admittedBefore = admitted[number];
      AsyncTokenBucket bucket = bucket();
      level = isOverwritten ? (long) Math.min(ours, limit.depth()[number]) : bucket == null ? 0 : bucket.getTokens();
    }

    boolean isDue(double sinceWriteSeconds) {
      boolean isKindChanged = (wanted < 0) != (written < 0);
      boolean isOld = sinceWriteSeconds >= WRITE_SECONDS;
      return wanted != written && (isOld || isKindChanged || wanted > written * RISE_RATIO);
    }

    void carryOver() {
      written = wanted;
      drainTo(level);
    }

    void settle(double seconds) {
      AsyncTokenBucket bucket = bucket();
      if (bucket == null) return;
      owed = Math.max(0, owed + (written - rate) * seconds);
      long whole = (long) owed;
      owed -= whole;
      if (whole > 0) bucket.consumeTokens(whole);
      drainTo((long) depth);
      level = bucket.getTokens();
    }

    boolean isDry() {
      return bucket() != null && level <= rate * DRY_SECONDS;
    }

    private void drainTo(long most) {
      AsyncTokenBucket bucket = bucket();
      long excess = bucket == null ? 0 : bucket.getTokens() - most;
      if (excess > 0) bucket.consumeTokens(excess);
    }
  }
}
