package io.quotamesh.pulsar;

import io.quotamesh.pulsar.Group.Lane;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupPublishLimiter;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupService;
import org.apache.pulsar.broker.service.AbstractTopic;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.PublishRateLimiterImpl;
import org.apache.pulsar.broker.service.Topic;
import org.apache.pulsar.common.naming.NamespaceName;
import org.apache.pulsar.common.naming.TopicName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts and limits, on a thread of its own: `tick` is called every 50 ms. */
final class Enforcer {
  private static final Logger LOG = LoggerFactory.getLogger(Enforcer.class);
  private static final long LOOK_UP_NANOS = 500_000_000L;
  /** Of the time, a walk through all topics takes one part in so many at most. */
  private static final int WALK_PARTS = 10;
  private static final int FAILURES_MAX = 20;

  final Map<String, Group> groups = new ConcurrentHashMap<>();
  private final PulsarService pulsar;
  private final Settings settings;
  private Map<Topic, Counted> counted = new IdentityHashMap<>();
  private boolean isFirstWalk = true;
  private boolean isReleased;
  private boolean isRegistered;
  private int failures;
  private long lookedUpNanos;
  private long walkedNanos;
  volatile long walkTookNanos;
  volatile int brokersAlive = 1;
  /** True: told to keep quiet, or something fails again and again. */
  volatile boolean isQuiet;
  volatile boolean isBroken;
  volatile List<Lane> lanes = List.of();

  Enforcer(PulsarService pulsar, Settings settings) {
    this.pulsar = pulsar;
    this.settings = settings;
  }

  void tick() {
    try {
      run(System.nanoTime());
      failures = 0;
    } catch (Throwable failure) {
      if (failures++ == 0) LOG.error("quotamesh: a round failed", failure);
      if (failures < FAILURES_MAX || isBroken) return;
      isBroken = true;
      LOG.error("quotamesh: {} rounds failed; every group gets its own quota back until a restart", FAILURES_MAX);
    }
  }

  private void run(long nowNanos) {
    ResourceGroupService service = pulsar.getResourceGroupServiceManager();
    BrokerService broker = pulsar.getBrokerService();
    // The broker initialises its interceptors before both.
    if (service == null || broker == null) return;
    if (nowNanos - lookedUpNanos >= LOOK_UP_NANOS) lookUp(broker, nowNanos);
    if (isQuiet || isBroken) {
      release();
      return;
    }
    if (nowNanos - walkedNanos < walkTookNanos * WALK_PARTS) return;
    isReleased = false;
    walkedNanos = nowNanos;
    count(service, broker, nowNanos);
    var told = new ArrayList<Lane>();
    for (Group group : groups.values()) {
      var resourceGroup = service.resourceGroupGet(group.name);
      if (resourceGroup == null) group.pulsarQuota = null;
      if (group.pulsarQuota == null) continue;
      group.keep(resourceGroup, nowNanos, brokersAlive);
      for (int direction = 0; direction < 2 && group.topics > 0; direction++) {
        boolean isLimited = settings.isNodeSource() || !group.limits[direction].isUnlimited();
        if (isLimited) told.add(group.lane(direction));
      }
    }
    lanes = List.copyOf(told);
    walkTookNanos = System.nanoTime() - nowNanos;
  }

  private void count(ResourceGroupService service, BrokerService broker, long nowNanos) {
    groups.values().forEach(Group::beginCount);
    var found = new IdentityHashMap<Topic, Counted>();
    for (var future : broker.getTopics().values()) {
      if (!future.isDone() || future.isCompletedExceptionally()) continue;
      if (!(future.getNow(Optional.empty()).orElse(null) instanceof AbstractTopic topic)) continue;
      Counted before = counted.get(topic);
      if (before == null) before = Counted.of(topic, isFirstWalk);
      found.put(topic, before);
      var resourceGroup = service.getNamespaceResourceGroup(before.namespace);
      long[] grown = before.growth(topic);
      if (resourceGroup == null) continue;
      groups.computeIfAbsent(resourceGroup.resourceGroupName, name -> new Group(name, settings.isNodeSource(), this::wake))
          .count(topic, grown, before.wasThrottled(topic), nowNanos);
    }
    counted = found;
    isFirstWalk = false;
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
      resources.getResourcegroupResources().getResourceGroupAsync(group.name).thenAccept(found ->
          group.pulsarQuota = found.map(rates -> new double[][] {
            {Limit.ofPulsar(rates.getPublishRateInMsgs()), Limit.ofPulsar(rates.getPublishRateInBytes())},
            {Limit.ofPulsar(rates.getDispatchRateInMsgs()), Limit.ofPulsar(rates.getDispatchRateInBytes())},
          }).orElse(null));
    }
  }

  /** Once. What topics admit meanwhile is counted when it goes on as if it had never been. */
  private void release() {
    if (isReleased) return;
    isReleased = true;
    isFirstWalk = true;
    counted = new IdentityHashMap<>();
    lanes = List.of();
    groups.values().forEach(Group::release);
    LOG.info("quotamesh: {} groups have their own quota again", groups.size());
  }

  /**
   * Throttled producers sleep for a time that fits the former rate: with a debt of 150 messages at 10 a second 15 s,
   * whatever comes after. What computes it again is private in 4.0; without it they sleep it off.
   */
  private void wake(ResourceGroupPublishLimiter limiter) {
    try {
      var again = PublishRateLimiterImpl.class.getDeclaredMethod("unthrottleQueuedProducers", ScheduledExecutorService.class);
      again.setAccessible(true);
      var executor = pulsar.getBrokerService().executor().next();
      executor.execute(() -> {
        try {
          again.invoke(limiter, executor);
        } catch (ReflectiveOperationException failure) {
          LOG.warn("quotamesh: throttled producers could not be woken", failure);
        }
      });
    } catch (ReflectiveOperationException | RuntimeException absent) {
      LOG.debug("quotamesh: throttled producers are not woken", absent);
    }
  }

  /** The counters of a topic when it was looked at last. A topic that is loaded again is another object, from 0 on. */
  private static final class Counted {
    final NamespaceName namespace;
    private long[] last;
    private long throttled;

    private Counted(NamespaceName namespace, long[] last) {
      this.namespace = namespace;
      this.last = last;
    }

    static Counted of(AbstractTopic topic, boolean isFromNow) {
      var namespace = TopicName.get(topic.getName()).getNamespaceObject();
      return new Counted(namespace, isFromNow ? read(topic) : new long[4]);
    }

    long[] growth(AbstractTopic topic) {
      long[] now = read(topic);
      var grown = new long[now.length];
      for (int at = 0; at < now.length; at++) grown[at] = now[at] - last[at];
      last = now;
      return grown;
    }

    boolean wasThrottled(AbstractTopic topic) {
      long now = topic.getTotalPublishRateLimitCounter();
      boolean hasGrown = now != throttled;
      throttled = now;
      return hasGrown;
    }

    private static long[] read(AbstractTopic topic) {
      return new long[] {topic.getMsgInCounter(), topic.getBytesInCounter(), topic.getMsgOutCounter(), topic.getBytesOutCounter()};
    }
  }
}
