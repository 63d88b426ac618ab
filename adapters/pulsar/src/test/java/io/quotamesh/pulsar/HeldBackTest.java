package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class HeldBackTest {
  private static final double TICK_SECONDS = 0.05;
  private final HeldBack held = new HeldBack();

  private boolean after(String ticks) {
    for (char tick : ticks.toCharArray()) held.look(tick == 'd', TICK_SECONDS);
    return held.isSo;
  }

  @Test
  void itTakesTwoDryTicksMoreThanOthersToBeginAndThreeOthersToEnd() {
    assertEquals(false, after("d"));
    assertEquals(true, after("d"));
    assertEquals(true, after("d.d.d.d."));
    assertEquals(false, after(".."));
  }

  @Test
  void whoWantsAsMuchAsTheLimitIsNotHeldBack() {
    for (int round = 0; round < 50; round++) assertEquals(false, after("d.d.."));
  }

  @Test
  void aPauseOfTheBrokerIsOneTick() {
    held.look(true, 3);
    assertEquals(false, held.isSo);
  }
}
