package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class LaneTest {
  private static final double[] QUOTA = {1000, Limit.UNLIMITED};
  private final Lane lane = new Lane("orders", "publish", false);

  private double[] rateAt(long nowNanos, int brokersAlive) {
    return lane.look(nowNanos, QUOTA, brokersAlive).rate();
  }

  private void tell(Limit limit, long validUntilNanos) {
    lane.told = new Lane.Told(limit, QUOTA, validUntilNanos);
  }

  private static Limit limit(double messages) {
    return new Limit(new double[] {messages, Limit.UNLIMITED}, new double[] {50, Limit.UNLIMITED});
  }

  @Test
  void itIsQuotaByBrokersAliveBeforeTheNodeHasSpoken() {
    assertEquals(500, rateAt(0, 2)[Limit.MESSAGES]);
    assertEquals(Limit.UNLIMITED, rateAt(0, 2)[Limit.BYTES]);
    assertTrue(lane.isAlone);
  }

  @Test
  void whatTheNodeToldLastsToItsEndAndThenItIsAlone() {
    tell(limit(800), 3000);
    assertEquals(800, rateAt(2999, 2)[Limit.MESSAGES]);
    assertFalse(lane.isAlone);
    assertEquals(250, rateAt(3000, 4)[Limit.MESSAGES]);
    assertTrue(lane.isAlone);
    tell(limit(700), 9000);
    assertEquals(700, rateAt(8000, 4)[Limit.MESSAGES]);
  }

  @Test
  void aNodeThatTellsMoreThanTheQuotaIsNotBelieved() {
    tell(limit(5000), 3000);
    assertEquals(1000, rateAt(1, 2)[Limit.MESSAGES]);
    tell(new Limit(new double[] {Limit.UNLIMITED, Limit.UNLIMITED}, new double[] {1, 1}), 3000);
    assertEquals(1000, rateAt(1, 2)[Limit.MESSAGES]);
  }

  @Test
  void whereTheNodeHasTheQuotasItsQuotaIsDividedToo() {
    var nodes = new Lane("orders", "publish", true);
    nodes.told = new Lane.Told(limit(1500), new double[] {2000, Limit.UNLIMITED}, 3000);
    assertEquals(1500, nodes.look(0, QUOTA, 2).rate()[Limit.MESSAGES]);
    assertEquals(1000, nodes.look(3000, QUOTA, 2).rate()[Limit.MESSAGES]);
  }

  @Test
  void nobodyAliveIsTakenForOne() {
    assertEquals(1000, rateAt(0, 0)[Limit.MESSAGES]);
  }

  @Test
  void theClockMayPassItsLargestNumber() {
    tell(limit(800), Long.MAX_VALUE + 100);
    assertEquals(800, rateAt(Long.MAX_VALUE - 100, 2)[Limit.MESSAGES]);
  }
}
