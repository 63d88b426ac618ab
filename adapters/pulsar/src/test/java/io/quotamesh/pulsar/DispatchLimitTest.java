package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.ResourceGroup;
import org.junit.jupiter.api.Test;

class DispatchLimitTest {
  private static final double TICK_SECONDS = 0.05;
  private static final Limit HUNDRED = new Limit(new double[] {100, Limit.UNLIMITED}, new double[] {10, Limit.UNLIMITED});

  private final Stock.Topic one = Stock.topic();
  private final Stock.Topic other = Stock.topic();
  private final DispatchLimit limit = new DispatchLimit();

  DispatchLimitTest() throws IllegalAccessException {}

  @Test
  void topicsShareWhatTheGroupMayDispatch() {
    limit.keep(HUNDRED, Set.of(one, other), TICK_SECONDS);
    assertEquals(5, one.limiter().getAvailableDispatchRateLimitOnMsg());
    one.limiter().consumeDispatchQuota(3, 3000);
    assertEquals(2, other.limiter().getAvailableDispatchRateLimitOnMsg());
    assertEquals(-1, other.limiter().getAvailableDispatchRateLimitOnByte());
    limit.keep(HUNDRED, Set.of(other), TICK_SECONDS);
    assertNull(one.limiter());
  }

  @Test
  void aTopicThatFailsKeepsNoLimiterAtTheOthers() {
    limit.keep(HUNDRED, Set.of(one, other), TICK_SECONDS);
    one.isClosing = true;
    other.isClosing = true;
    limit.release();
    assertNull(one.limiter());
    assertNull(other.limiter());
  }

  @Test
  void aGroupThatIsDeletedHoldsNoTopic() {
    var group = new Group("orders", false, limiter -> {});
    group.pulsarQuota = new ResourceGroup();
    group.pulsarQuota.setDispatchRateInMsgs(100);
    var limiter = new ResourceGroupPublishLimiter(group.pulsarQuota, System::nanoTime);
    group.beginCount(0);
    group.count((PersistentTopic) one, Counters.NONE);
    assertTrue(group.keep(limiter, 1, 0, 0));
    assertNotNull(one.limiter());
    // Detached and deleted between two rounds.
    group.beginCount(TICK_SECONDS);
    group.pulsarQuota = null;
    assertFalse(group.keep(null, 1, 0, TICK_SECONDS));
    assertNull(one.limiter());
  }
}
