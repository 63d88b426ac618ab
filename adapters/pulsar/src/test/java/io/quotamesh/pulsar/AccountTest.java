package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class AccountTest {
  private static final double TICK_SECONDS = 0.05;
  private final Account account = new Account();

  private long spendAllFor(int ticks, double rate, long most) {
    long spent = 0;
    for (int tick = 0; tick < ticks; tick++) {
      account.fill(rate, Math.max(1, rate / 10), TICK_SECONDS);
      long now = Math.min(most, account.available());
      account.spend(now);
      spent += now;
    }
    return spent;
  }

  @Test
  void itGivesTheRateFractionsToo() {
    assertEquals(6000, spendAllFor(200, 600, 1000));
    assertEquals(25, spendAllFor(200, 2.5, 1000));
  }

  @Test
  void whatIsNotSpentIsKeptUpToTheDepth() {
    spendAllFor(200, 600, 0);
    assertEquals(60, account.available());
  }

  @Test
  void whatIsSpentTooMuchIsPaidBack() {
    account.spend(10);
    account.fill(600, 60, TICK_SECONDS);
    account.spend(330);
    assertEquals(0, account.available());
    assertEquals(3000, spendAllFor(110, 600, 1000), 1);
  }

  @Test
  void noLimitIsMinusOneAndALimitAfterItBeginsEmpty() {
    account.fill(Limit.UNLIMITED, Limit.UNLIMITED, TICK_SECONDS);
    account.spend(1000);
    assertEquals(Account.UNLIMITED, account.available());
    account.fill(600, 60, 0);
    assertEquals(0, account.available());
  }

  @Test
  void aRateBeyondAllNumbersLeavesNothingBehind() {
    for (int tick = 0; tick < 3; tick++) account.fill(1e300, 1e300, TICK_SECONDS);
    assertEquals(Long.MAX_VALUE, account.available());
    account.fill(600, 60, TICK_SECONDS);
    assertEquals(60, account.available());
    account.spend(60);
    account.fill(600, 60, TICK_SECONDS);
    assertEquals(30, account.available());
  }

  @Test
  void oneThatNobodyFillsForTenSecondsLimitsNothing() {
    account.fill(0, 1, TICK_SECONDS);
    assertEquals(0, account.available());
    account.filledNanos -= 10_000_000_000L;
    assertEquals(Account.UNLIMITED, account.available());
    account.spend(1000);
    account.fill(60, 60, TICK_SECONDS);
    assertEquals(3, account.available());
  }

  @Test
  void aRateOfNothingGivesNothing() {
    assertEquals(0, spendAllFor(200, 0, 1000));
  }
}
