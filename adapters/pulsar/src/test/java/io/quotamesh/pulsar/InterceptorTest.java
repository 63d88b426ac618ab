package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Properties;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.commons.lang3.reflect.MethodUtils;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.junit.jupiter.api.Test;

class InterceptorTest {
  private static Settings settings(String... pairs) throws Exception {
    var conf = new Properties();
    for (int at = 0; at < pairs.length; at += 2) conf.setProperty(pairs[at], pairs[at + 1]);
    return Settings.of(conf);
  }

  @Test
  void whateverFailsTheBrokerStarts() {
    var interceptor = new QuotameshInterceptor();
    assertDoesNotThrow(() -> interceptor.initialize(null));
    assertDoesNotThrow(interceptor::close);
  }

  /** The two private things of Pulsar that are used: see the guide, Upgrades. */
  @Test
  void whatIsPrivateIsThereInThisVersionOfPulsar() {
    assertNotNull(DispatchLimit.LIMITER_FIELD);
    assertNotNull(MethodUtils.getMatchingMethod(
        ResourceGroupPublishLimiter.class, "unthrottleQueuedProducers", ScheduledExecutorService.class));
  }

  @Test
  void settingsHaveDefaultsAndMistakesAreNamed() throws Exception {
    var given = settings("quotameshNode", "http://127.0.0.1:7070");
    assertEquals(new Settings("http://127.0.0.1:7070", null, null, 3000, false), given);
    String[][] mistakes = {
      {}, {"quotameshNode", "https://node"}, {"quotameshNode", "unix:/n", "quotameshGroups", "both"},
      {"quotameshNode", "unix:/n", "quotameshIsolationMs", "100"}, {"quotameshNode", "unix:/n", "quotameshIsolationMs", "x"},
    };
    for (String[] mistake : mistakes) assertThrows(IllegalArgumentException.class, () -> settings(mistake));
  }

  @Test
  void roundsThatFailAgainAndAgainEndIt() throws Exception {
    var enforcer = new Enforcer(null, settings("quotameshNode", "unix:/n"));
    for (int round = 0; round < 20; round++) {
      assertEquals(false, enforcer.isBroken);
      assertDoesNotThrow(enforcer::tick);
    }
    assertEquals(true, enforcer.isBroken);
  }

  @Test
  void whereThisPulsarLacksWhatIsNowAndThenUsedItEndsToo() throws Exception {
    var enforcer = new Enforcer(Stock.allocated(Stock.Broker.class), settings("quotameshNode", "unix:/n"));
    for (int round = 0; round < 20; round++) assertDoesNotThrow(enforcer::tick);
    assertEquals(true, enforcer.isBroken);
  }
}
