package io.quotamesh.pulsar;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import org.apache.pulsar.broker.PulsarService;
import org.apache.pulsar.broker.intercept.BrokerInterceptor;
import org.apache.pulsar.broker.service.ServerCnx;
import org.apache.pulsar.common.api.proto.BaseCommand;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the broker loads. It looks at no command and no message; whatever fails, the broker goes on without it. */
public final class QuotameshInterceptor implements BrokerInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(QuotameshInterceptor.class);
  private static final long TICK_MS = 50;
  /** For limits, for the node, and for the deadlines of its answers. */
  private static final int THREADS = 3;

  private ScheduledExecutorService threads;

  /** What is thrown here would keep the broker from starting. */
  @Override
  public void initialize(PulsarService pulsar) {
    try {
      start(pulsar);
    } catch (Throwable failure) {
      LOG.error("quotamesh: the broker goes on without it: {}", failure.getMessage(), failure);
    }
  }

  private void start(PulsarService pulsar) throws IOException {
    if (DispatchLimit.LIMITER_FIELD == null) throw new IllegalStateException("topics have no dispatchRateLimiter");
    var settings = Settings.of(pulsar.getConfiguration().getProperties());
    var enforcer = new Enforcer(pulsar, settings);
    threads = Executors.newScheduledThreadPool(THREADS, new DefaultThreadFactory("quotamesh", true));
    var talk = new Talk(settings, enforcer, new NodeConnection(settings, threads), settings.timeoutMs());
    pulsar.addPrometheusRawMetricsProvider(new Metrics(enforcer, talk)::generate);
    threads.scheduleWithFixedDelay(enforcer::tick, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
    threads.scheduleWithFixedDelay(talk, TICK_MS, TICK_MS, TimeUnit.MILLISECONDS);
    LOG.info("quotamesh: follows {}", settings.node());
  }

  @Override
  public void close() {
    if (threads != null) threads.shutdownNow();
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
