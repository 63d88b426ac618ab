package io.quotamesh.pulsar;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.lang3.reflect.MethodUtils;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupService;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.common.naming.TopicName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts and limits, every 50 ms. */
final class Enforcer {
  private static final Logger LOG = LoggerFactory.getLogger(Enforcer.class);
  private static final long LOOK_UP_NANOS = 500_000_000L;
  /** At most one part in so many of the time goes into walks through all topics. */
  private static final int WALK_PARTS = 10;
  private static final int FAILURES_MAX = 20;

  final Map<String, Group> groups = new ConcurrentHashMap<>();
  private final PulsarService pulsar;
  private final Settings settings;
  private Map<AbstractTopic, Counters> counted = new IdentityHashMap<>();
  private boolean isRegistered;
  private int failures;
  private long lookedUpNanos;
  private long walkedNanos;
  volatile long walkTookNanos;
  volatile int brokersAlive = 1;
  /** An operator has said so. */
  volatile boolean isQuiet;
  /** Rounds have failed again and again, or cannot work with this Pulsar: it stays so until the broker is restarted. */
  volatile boolean isBroken;
  /** Rises after each silence: the node charges nobody for what was admitted before the first counts of a life. */
  volatile long life;
  /** What the node is told; null = nothing is kept, and nothing said. */
  volatile List<Lane.Counts> lanes;

  Enforcer(PulsarService pulsar, Settings settings) {
    this.pulsar = pulsar;
    this.settings = settings;
  }

  /** The broker gives itself its id after it has initialised its interceptors. */
  String name() {
    return settings.name() == null ? pulsar.getBrokerId() : settings.name();
  }

  void tick() {
    try {
      run(System.nanoTime());
      failures = 0;
    } catch (Throwable failure) {
      if (failures++ == 0) LOG.error("quotamesh: a round failed", failure);
      // What this Pulsar lacks will not come.
      boolean isEnd = failures >= FAILURES_MAX || failure instanceof LinkageError;
      if (!isEnd || isBroken) return;
      isBroken = true;
      LOG.error("quotamesh: has ended; every group gets its own quota back until a restart");
    }
  }

  private void run(long nowNanos) {
    ResourceGroupService service = pulsar.getResourceGroupServiceManager();
    BrokerService broker = pulsar.getBrokerService();
    // The broker initialises its interceptors before both.
    if (service == null || broker == null) return;
    if (!isBroken && nowNanos - lookedUpNanos >= LOOK_UP_NANOS) lookUp(broker, nowNanos);
    if (isQuiet || isBroken) {
      release();
      return;
    }
    if (nowNanos - walkedNanos < walkTookNanos * WALK_PARTS) return;
    boolean isFirst = lanes == null;
    double seconds = isFirst ? 0 : (nowNanos - walkedNanos) / 1e9;
    if (isFirst) {
      life = System.currentTimeMillis();
      lanes = List.of();
    }
    walkedNanos = nowNanos;
    count(service, broker, seconds);
    var told = new ArrayList<Lane.Counts>();
    for (Group group : groups.values()) {
      var resourceGroup = service.resourceGroupGet(group.name);
      var limiter = resourceGroup == null ? null : resourceGroup.getResourceGroupPublishLimiter();
      if (!group.keep(limiter, brokersAlive, nowNanos, seconds) || group.topics == 0) continue;
      for (Lane lane : group.lanes()) {
        if (settings.isNodeSource() || !lane.limit.isUnlimited()) told.add(lane.counts(group.topics));
      }
    }
    lanes = List.copyOf(told);
    walkTookNanos = System.nanoTime() - nowNanos;
  }

  private void count(ResourceGroupService service, BrokerService broker, double seconds) {
    groups.values().forEach(group -> group.beginCount(seconds));
    var found = new IdentityHashMap<AbstractTopic, Counters>();
    for (var future : broker.getTopics().values()) {
      if (!future.isDone() || future.isCompletedExceptionally()) continue;
      if (!(future.getNow(Optional.empty()).orElse(null) instanceof AbstractTopic topic)) continue;
      var counters = Counters.of(topic);
      found.put(topic, counters);
      var resourceGroup = service.getNamespaceResourceGroup(TopicName.get(topic.getName()).getNamespaceObject());
      if (resourceGroup == null) continue;
      groups.computeIfAbsent(resourceGroup.resourceGroupName, name -> new Group(name, settings.isNodeSource(), this::wake))
          .count(topic, counters.since(counted.getOrDefault(topic, Counters.NONE)));
    }
    counted = found;
  }

  /** Asks the caches of Pulsar's metadata, and waits for none of the answers. */
  private void lookUp(BrokerService broker, long nowNanos) {
    lookedUpNanos = nowNanos;
    if (!isRegistered) {
      isRegistered = true;
      broker.registerCustomDynamicConfiguration(Settings.QUIET, value -> value.equals("true") || value.equals("false"));
    }
    var resources = pulsar.getPulsarResources();
    resources.getDynamicConfigResources().getDynamicConfigurationAsync().thenAccept(conf ->
        isQuiet = conf.map(values -> "true".equals(values.get(Settings.QUIET))).orElse(false));
    var loads = pulsar.getLoadManager().get();
    if (loads != null) {
      loads.getAvailableBrokersAsync().thenAccept(alive -> brokersAlive = Math.max(1, alive.size()));
    }
    for (Group group : groups.values()) {
      resources.getResourcegroupResources().getResourceGroupAsync(group.name)
          .thenAccept(found -> group.pulsarQuota = found.orElse(null));
    }
  }

  /** Once: what others write over it afterwards stays. */
  private void release() {
    if (lanes == null) return;
    lanes = null;
    for (Group group : groups.values()) {
      try {
        group.release();
      } catch (RuntimeException | LinkageError failure) {
        LOG.error("quotamesh: group {} may not have its own quota again", group.name, failure);
      }
    }
    LOG.info("quotamesh: {} groups have their own quota again", groups.size());
  }

  /**
   * Throttled producers sleep for a time that fits the former rate: with a debt of 150 messages at 10 a second 15 s,
   * whatever comes after. What computes it again is private in 4.0; without it they sleep it off.
   */
  private void wake(ResourceGroupPublishLimiter limiter) {
    var executor = pulsar.getBrokerService().executor().next();
    executor.execute(() -> {
      try {
        MethodUtils.invokeMethod(limiter, true, "unthrottleQueuedProducers", executor);
      } catch (ReflectiveOperationException absent) {
        LOG.debug("quotamesh: throttled producers are not woken", absent);
      }
    });
  }
}
