package io.quotamesh.pulsar;

import java.util.function.Consumer;
import org.apache.pulsar.broker.qos.AsyncTokenBucket;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;

/**
 * A group's own publish limiter, kept at the share of this broker.
 *
 * Its `update` puts full buckets in place, so their levels, debts too, are carried over: without that, ten changes a
 * second admit eleven times the rate. Each change also lets some producers sleep for a time that no longer fits. So
 * rates are written when they rise, and else once a second at most; what is written above the share, also the fraction
 * of a unit, is consumed in every tick.
 */
final class PublishLimit {
  private static final long UNWRITTEN = Long.MIN_VALUE;
  private static final long WRITE_NANOS = 1_000_000_000;
  private static final double RISE_RATIO = 1.02;
  /** Buckets hold at least so many seconds of the rate, so that ticks and wake-ups may come late. */
  private static final double DEPTH_SECONDS = 0.1;

  private final ResourceGroupPublishLimiter limiter;
  private final Consumer<ResourceGroupPublishLimiter> wake;
  private final long[] written = {UNWRITTEN, UNWRITTEN};
  private final double[] owed = new double[2];
  private final long[] level = new long[2];
  private long writtenNanos;
  private long keptNanos;
  private boolean isDry;
  long writes;
  long overwritten;

  /** @param wake has the times computed again for which throttled producers sleep */
  PublishLimit(ResourceGroupPublishLimiter limiter, Consumer<ResourceGroupPublishLimiter> wake) {
    this.limiter = limiter;
    this.wake = wake;
  }

  /** @param admitted units since the last call */
  void keep(Limit limit, long[] admitted, long nowNanos) {
    double seconds = isKept() ? (nowNanos - keptNanos) / 1e9 : 0;
    keptNanos = nowNanos;
    boolean isOverwritten = isKept() && isOverwritten();
    if (isOverwritten) overwritten++;
    for (int unit = 0; unit < 2; unit++) {
      AsyncTokenBucket bucket = bucket(unit);
      // Who wrote over it has put full buckets in place; what was in ours is known from what has been admitted.
      double ours = level[unit] + Math.max(0, written[unit]) * seconds - admitted[unit];
      double had = isOverwritten ? Math.min(ours, limit.depth()[unit]) : bucket == null ? 0 : bucket.getTokens();
      level[unit] = (long) had;
    }
    if (isOverwritten || isDue(limit, nowNanos)) write(limit, nowNanos);
    isDry = false;
    for (int unit = 0; unit < 2; unit++) settle(unit, limit, seconds);
  }

  /** Whether the buckets admit nothing at this moment: throttled producers are woken at 1 % of a second's tokens. */
  boolean isDry() {
    return isDry;
  }

  /** Below 0: somebody sleeps off what was admitted above the limit. */
  boolean isIndebted() {
    return level[Limit.MESSAGES] < 0 || level[Limit.BYTES] < 0;
  }

  /** The group's own quota again, as if we had never been there. */
  void release(double[] quota) {
    if (!isKept()) return;
    limiter.update(toPulsar(quota[Limit.MESSAGES]), toPulsar(quota[Limit.BYTES]));
    written[Limit.MESSAGES] = written[Limit.BYTES] = UNWRITTEN;
    wake.accept(limiter);
  }

  boolean isOf(ResourceGroupPublishLimiter other) {
    return limiter == other;
  }

  private boolean isKept() {
    return written[Limit.MESSAGES] != UNWRITTEN;
  }

  private boolean isOverwritten() {
    var values = limiter.getResourceGroupPublishValues();
    return values.messages != written[Limit.MESSAGES] || values.bytes != written[Limit.BYTES];
  }

  private boolean isDue(Limit limit, long nowNanos) {
    boolean isOld = nowNanos - writtenNanos >= WRITE_NANOS;
    for (int unit = 0; unit < 2; unit++) {
      long wanted = toWrite(limit.rate()[unit]);
      if (wanted == written[unit]) continue;
      boolean isKindChanged = written[unit] < 0 || wanted < 0;
      if (isOld || isKindChanged || wanted > written[unit] * RISE_RATIO) return true;
    }
    return false;
  }

  private void write(Limit limit, long nowNanos) {
    for (int unit = 0; unit < 2; unit++) written[unit] = toWrite(limit.rate()[unit]);
    limiter.update(written[Limit.MESSAGES], written[Limit.BYTES]);
    for (int unit = 0; unit < 2; unit++) drain(bucket(unit), level[unit]);
    writtenNanos = nowNanos;
    writes++;
    wake.accept(limiter);
  }

  private void settle(int unit, Limit limit, double seconds) {
    AsyncTokenBucket bucket = bucket(unit);
    if (bucket == null) return;
    double rate = limit.rate()[unit];
    owed[unit] = Math.max(0, owed[unit] + (written[unit] - rate) * seconds);
    long whole = (long) owed[unit];
    owed[unit] -= whole;
    if (whole > 0) bucket.consumeTokens(whole);
    drain(bucket, (long) Math.max(1, Math.max(limit.depth()[unit], rate * DEPTH_SECONDS)));
    level[unit] = bucket.getTokens();
    isDry |= level[unit] <= rate / 50;
  }

  private AsyncTokenBucket bucket(int unit) {
    return unit == Limit.MESSAGES ? limiter.getTokenBucketOnMessage() : limiter.getTokenBucketOnByte();
  }

  private static void drain(AsyncTokenBucket bucket, long most) {
    if (bucket == null) return;
    long excess = bucket.getTokens() - most;
    if (excess > 0) bucket.consumeTokens(excess);
  }

  /** Pulsar takes 0 for unlimited, so the least that is written is 1. */
  private static long toWrite(double rate) {
    return rate == Limit.UNLIMITED ? -1 : Math.max(1, (long) Math.ceil(rate));
  }

  private static long toPulsar(double quota) {
    return quota == Limit.UNLIMITED ? -1 : (long) quota;
  }
}
