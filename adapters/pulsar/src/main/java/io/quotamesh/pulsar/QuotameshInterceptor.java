package io.quotamesh.pulsar;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.ServiceConfiguration;
import org.apache.pulsar.broker.ServiceConfigurationUtils;
import org.apache.pulsar.broker.intercept.BrokerInterceptor;
import org.apache.pulsar.broker.service.ServerCnx;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the broker loads. It looks at no command and no message; whatever fails, the broker goes on without it. */
public final class QuotameshInterceptor implements BrokerInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(QuotameshInterceptor.class);
  private static final long TICK_MS = 50;

  private ScheduledExecutorService ticks;
  private Thread talking;

  /** What is thrown here would keep the broker from starting. */
  @Override
  public void initialize(PulsarService pulsar) {
    try {
      start(pulsar);
    } catch (Throwable failure) {
      LOG.error("quotamesh: the broker goes on without it: {}", failure.getMessage(), failure);
    }
  }

  private void start(PulsarService pulsar) throws Exception {
    ServiceConfiguration conf = pulsar.getConfiguration();
    String host = ServiceConfigurationUtils.getDefaultOrConfiguredAddress(conf.getAdvertisedAddress());
    String port = conf.getWebServicePort().or(conf::getWebServicePortTls).map(String::valueOf).orElse("");
    // The broker gives itself this id, but later.
    var settings = Settings.of(conf.getProperties(), host + ":" + port);
    var enforcer = new Enforcer(pulsar, settings);
    ticks = Executors.newSingleThreadScheduledExecutor(task -> daemon("quotamesh-limits", task));
    var talk = new Talk(settings, enforcer, new NodeConnection(settings, ticks), settings.timeoutMs());
    pulsar.addPrometheusRawMetricsProvider(new Metrics(enforcer, talk)::generate);
    ticks.scheduleWithFixedDelay(enforcer::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
    talking = daemon("quotamesh-node", talk);
    talking.start();
    LOG.info("quotamesh: {} follows {}", settings.name(), settings.node());
  }

  private static Thread daemon(String name, Runnable task) {
    var thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void close() {
    if (ticks != null) ticks.shutdownNow();
    if (talking != null) talking.interrupt();
  }

  @Override
  public void onPulsarCommand(BaseCommand command, ServerCnx connection) {}

  @Override
  public void onConnectionClosed(ServerCnx connection) {}

  @Override
  public void onWebserviceRequest(ServletRequest request) {}

  @Override
  public void onWebserviceResponse(ServletRequest request, ServletResponse response) {}
}
