package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.function.DoubleUnaryOperator;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.common.policies.data.ResourceGroup;
import org.junit.jupiter.api.Test;

/** Pulsar's own limiter in virtual time, and a producer that takes all that it gets, a message at a time. */
class PublishLimitTest {
  private static final long MS = 1_000_000;
  private static final int TICK_MS = 50;

  private long nowNanos = 1_000_000 * MS;
  private final ResourceGroupPublishLimiter limiter = stockLimiter(1000);
  private int woken;
  private final PublishLimit limit = new PublishLimit(limiter, which -> woken++);
  private long admitted;
  private long tickedNanos = nowNanos;

  private ResourceGroupPublishLimiter stockLimiter(int messages) {
    return new ResourceGroupPublishLimiter(quota(messages), () -> nowNanos);
  }

  private static ResourceGroup quota(int messages) {
    var group = new ResourceGroup();
    group.setPublishRateInMsgs(messages);
    return group;
  }

  private static Limit limitOf(double messages) {
    return new Limit(new double[] {messages, Limit.UNLIMITED}, new double[] {messages / 20, Limit.UNLIMITED});
  }

  private void tick(double messages) {
    limit.keep(limitOf(messages), new long[] {admitted, 0}, (nowNanos - tickedNanos) / 1e9);
    tickedNanos = nowNanos;
  }

  /** @return how many messages were admitted */
  private long run(int ms, DoubleUnaryOperator shareAtMs) {
    long before = admitted;
    for (int at = 0; at < ms; at++) {
      if (at % TICK_MS == 0) tick(shareAtMs.applyAsDouble(at));
      nowNanos += MS;
      while (limiter.getTokenBucketOnMessage().containsTokens()) {
        limiter.getTokenBucketOnMessage().consumeTokens(1);
        admitted++;
      }
    }
    return admitted - before;
  }

  private static void assertBetween(double least, double most, double actual) {
    assertTrue(least <= actual && actual <= most, actual + " is not in " + least + " to " + most);
  }

  @Test
  void aSteadyShareIsAdmitted() {
    run(2000, ms -> 300);
    assertBetween(2970, 3030, run(10_000, ms -> 300));
  }

  @Test
  void tenChangesASecondMintNothing() {
    run(2000, ms -> 200);
    assertBetween(0.97 * 6000, 1.01 * 6000, run(10_000, ms -> (int) ms / 100 % 2 == 0 ? 200 : 1000));
  }

  @Test
  void itIsChangedAboutOnceASecondWhereItDoesNotRise() {
    run(2000, ms -> 1000);
    long before = limit.writes;
    run(10_000, ms -> 1000 - ms / 100);
    assertBetween(9, 11, limit.writes - before);
  }

  @Test
  void aLowerShareCountsAtOnceAndARaiseIsWrittenAtOnceAndWakes() {
    run(2200, ms -> 1000);
    tick(1000);
    long writes = limit.writes;
    run(100, ms -> 900);
    assertBetween(85, 110, run(1000, ms -> 100));
    writes = limit.writes;
    int before = woken;
    tick(800);
    assertEquals(writes + 1, limit.writes);
    assertEquals(before + 1, woken);
    assertEquals(800, limiter.getResourceGroupPublishValues().messages);
  }

  @Test
  void zeroIsNeverWrittenAndAdmitsNothing() {
    run(3000, ms -> 100);
    run(2000, ms -> 0);
    assertEquals(1, limiter.getResourceGroupPublishValues().messages);
    assertBetween(0, 1, run(10_000, ms -> 0));
  }

  @Test
  void fractionsOfAUnitAreKept() {
    run(3000, ms -> 2.5);
    assertBetween(49, 51, run(20_000, ms -> 2.5));
  }

  @Test
  void theFirstTickMintsNothingEither() {
    assertBetween(0, 100 + 100 / 10 + 1, run(1000, ms -> 100));
  }

  @Test
  void aDebtGoesAlong() {
    run(2000, ms -> 100);
    limiter.getTokenBucketOnMessage().consumeTokens(150);
    admitted += 150;
    tick(1000);
    assertBetween(-152, -145, limiter.getTokenBucketOnMessage().getTokens());
    assertTrue(limit.isDry() && limit.isIndebted());
  }

  @Test
  void whatPulsarWritesOverItIsWrittenAgainWithTheLevelThatWasThere() {
    run(3000, ms -> 300);
    long passed = 0;
    for (int round = 0; round < 4; round++) {
      limiter.update(1000, -1);
      passed += run(TICK_MS, ms -> 300) + run(5000 - TICK_MS, ms -> 300);
      assertEquals(300, limiter.getResourceGroupPublishValues().messages);
    }
    assertEquals(4, limit.overwritten);
    assertBetween(0.98 * 6000, 1.02 * 6000, passed);
  }

  @Test
  void itIsDryWhereMoreIsWantedAndElseNot() {
    run(2000, ms -> 300);
    assertTrue(limit.isDry());
    for (int at = 0; at < 40; at++) {
      tick(300);
      nowNanos += TICK_MS * MS;
      // 14 of 15 that it may.
      limiter.getTokenBucketOnMessage().consumeTokens(14);
      admitted += 14;
    }
    tick(300);
    assertFalse(limit.isDry());
  }

  @Test
  void anIdleGroupSavesNoMoreThanItsDepth() {
    run(2000, ms -> 1000);
    for (int at = 0; at < 100; at++) {
      tick(1000);
      nowNanos += TICK_MS * MS;
    }
    tick(1000);
    assertBetween(100, 100, limiter.getTokenBucketOnMessage().getTokens());
  }

  @Test
  void halfOfTheLargestQuotaThatPulsarTakesHoldsNobodyBack() {
    for (int at = 0; at < 100; at++) {
      tick(Math.pow(2, 62));
      nowNanos += TICK_MS * MS;
      var bucket = limiter.getTokenBucketOnMessage();
      assertTrue(bucket == null || bucket.containsTokens(), "tick " + at);
      assertFalse(limit.isDry());
    }
  }

  @Test
  void releasedItIsTheGroupsOwnQuota() {
    run(2000, ms -> 300);
    limit.release(quota(1000));
    assertEquals(1000, limiter.getResourceGroupPublishValues().messages);
    assertEquals(-1, limiter.getResourceGroupPublishValues().bytes);
  }

  @Test
  void noLimitIsPulsarsMinusOneAndALimitAfterItBeginsEmpty() {
    run(2000, ms -> 300);
    tick(Limit.UNLIMITED);
    assertEquals(-1, limiter.getResourceGroupPublishValues().messages);
    tick(300);
    assertBetween(0, 1, limiter.getTokenBucketOnMessage().getTokens());
  }
}
