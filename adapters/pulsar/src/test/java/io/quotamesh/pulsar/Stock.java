package io.quotamesh.pulsar;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.apache.commons.lang3.reflect.FieldUtils;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.resourcegroup.ResourceGroupService;
import org.apache.pulsar.broker.resources.PulsarResources;
import org.apache.pulsar.broker.service.BrokerService;
import org.apache.pulsar.broker.service.persistent.DispatchRateLimiter;
import org.apache.pulsar.broker.service.persistent.PersistentSubscription;
import org.apache.pulsar.broker.service.persistent.PersistentTopic;
import org.apache.pulsar.common.policies.data.impl.DispatchRateImpl;
import sun.misc.Unsafe;

/** Parts of a broker that never ran their constructors, which would need the rest of the broker. */
final class Stock {
  private Stock() {}

  static <T> T allocated(Class<T> type) {
    try {
      return type.cast(((Unsafe) FieldUtils.readStaticField(Unsafe.class, "theUnsafe", true)).allocateInstance(type));
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** A topic without subscriptions and without limits of its own. */
  static Topic topic() throws IllegalAccessException {
    Topic topic = allocated(Topic.class);
    FieldUtils.writeField(DispatchLimit.LIMITER_FIELD, topic, Optional.empty());
    return topic;
  }

  /** A broker without topics, whose metadata cannot be asked. */
  static final class Broker extends PulsarService {
    private Broker() {
      super(null);
    }

    @Override
    public ResourceGroupService getResourceGroupServiceManager() {
      return allocated(ResourceGroupService.class);
    }

    @Override
    public BrokerService getBrokerService() {
      return allocated(Topics.class);
    }

    @Override
    public PulsarResources getPulsarResources() {
      throw new NoSuchMethodError("getPulsarResources");
    }
  }

  private static final class Topics extends BrokerService {
    private Topics() throws Exception {
      super(null, null);
    }

    @Override
    public Map<String, CompletableFuture<Optional<org.apache.pulsar.broker.service.Topic>>> getTopics() {
      return Map.of();
    }

    @Override
    public void registerCustomDynamicConfiguration(String key, Predicate<String> validator) {}
  }

  static class Topic extends PersistentTopic {
    boolean isClosing;

    private Topic() {
      super(null, null, null);
    }

    /** Null = stock. */
    DispatchRateLimiter limiter() {
      return getDispatchRateLimiter().orElse(null);
    }

    @Override
    public String getName() {
      return "persistent://public/orders/new";
    }

    @Override
    public DispatchRateImpl getDispatchRate() {
      return new DispatchRateImpl(-1, -1L, false, 1);
    }

    @Override
    public Map<String, PersistentSubscription> getSubscriptions() {
      return Map.of();
    }

    @Override
    public void updateDispatchRateLimiter() {
      if (isClosing) throw new IllegalStateException("is closing");
    }
  }
}
