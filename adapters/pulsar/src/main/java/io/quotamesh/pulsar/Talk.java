package io.quotamesh.pulsar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quotamesh.pulsar.Group.Lane;
import io.quotamesh.pulsar.Share.Told;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is said to the node, on a thread of its own: nobody else waits for it. */
final class Talk implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Talk.class);
  private static final long PACE_MS = 50;
  private static final long RETRY_MS = 200;
  private static final long DEFINE_AGAIN_NANOS = 10_000_000_000L;
  /** A request has so many lanes at most; what is beyond has quota ÷ brokers. */
  private static final int LANES_MAX = 1000;
  private static final String[] DIRECTIONS = {"publish", "dispatch"};
  private static final String[][] RATES = {
    {"publishRateInMsgs", "publishRateInBytes"}, {"dispatchRateInMsgs", "dispatchRateInBytes"},
  };

  private final Settings settings;
  private final Enforcer enforcer;
  private final NodeConnection node;
  private final long timeoutMs;
  private final long life = System.currentTimeMillis();
  private final Map<String, Defined> defined = new HashMap<>();
  private List<Lane> sent = List.of();
  private long version = -1;
  private boolean hasMoved;
  private long sentNanos;
  private String problem;
  volatile long answered;
  volatile long failed;
  volatile long answeredNanos;

  Talk(Settings settings, Enforcer enforcer, NodeConnection node, long timeoutMs) {
    this.settings = settings;
    this.enforcer = enforcer;
    this.node = node;
    this.timeoutMs = timeoutMs;
  }

  @Override
  public void run() {
    try {
      while (!Thread.currentThread().isInterrupted()) Thread.sleep(round(System.nanoTime()) ? PACE_MS : RETRY_MS);
    } catch (InterruptedException end) {
      // The broker stops.
    } catch (Throwable failure) {
      // The last shares are kept for their time, and then each broker is alone.
      LOG.error("quotamesh: the node is told nothing more until a restart", failure);
    }
  }

  /** @return whether all went well */
  boolean round(long nowNanos) {
    List<Lane> lanes = enforcer.lanes;
    boolean isRecent = nowNanos - sentNanos < settings.isolationMs() * 1_000_000 / 6;
    // Who is held back waits for more, and its counts may stand still.
    boolean isNews = hasMoved || !lanes.equals(sent) || lanes.stream().anyMatch(Lane::isHeldBack);
    if (lanes.isEmpty() || isRecent && !isNews) return true;
    try {
      if (!settings.isNodeSource()) define(nowNanos);
      report(lanes.subList(0, Math.min(LANES_MAX, lanes.size())));
      sent = lanes;
      sentNanos = nowNanos;
      answered++;
      answeredNanos = System.nanoTime();
      if (problem != null) LOG.info("quotamesh: the node answers again");
      problem = null;
      return true;
    } catch (IOException | RuntimeException failure) {
      failed++;
      String text = String.valueOf(failure.getMessage());
      if (!text.equals(problem)) LOG.warn("quotamesh: {} is not followed: {}", settings.node(), text);
      problem = text;
      return false;
    }
  }

  private void report(List<Lane> lanes) throws IOException {
    ObjectNode body = NodeConnection.JSON.createObjectNode()
        .put("enforcer", settings.name()).put("life", life).put("ttlMs", settings.isolationMs());
    var groups = body.putArray("groups");
    for (Lane lane : lanes) {
      ObjectNode group = groups.addObject().put("group", lane.group().name).put("direction", DIRECTIONS[lane.direction()]);
      group.put("heldBack", lane.isHeldBack());
      group.putObject("admitted").put("messages", lane.messages()).put("bytes", lane.bytes());
    }
    long askedNanos = System.nanoTime();
    var answer = node.ask("POST", "/v1/enforce", body, timeoutMs);
    if (answer.status() != 200) throw new IOException(answer.status() + " " + answer.body().path("detail").asText());
    JsonNode told = answer.body();
    long validMs = (long) nonNegative(told.path("validMs"));
    if (told.path("groups").size() != lanes.size()) throw new IOException("an answer for other groups");
    var parts = new ArrayList<Told>();
    for (JsonNode each : told.path("groups")) {
      parts.add(toldOf(each, askedNanos + Math.min(validMs, settings.isolationMs()) * 1_000_000));
    }
    // Nothing is believed of an answer that has nonsense in it.
    for (int at = 0; at < lanes.size(); at++) {
      Lane lane = lanes.get(at);
      if (parts.get(at) != null) lane.group().shares[lane.direction()].told = parts.get(at);
      else if (told.path("groups").get(at).path("status").asInt() == 404) forget(lane.group().name);
    }
    hasMoved = version != told.path("version").asLong();
    version = told.path("version").asLong();
  }

  /** Null: nothing is told of the lane, and the share from before lasts to its end. */
  private static Told toldOf(JsonNode part, long validUntilNanos) throws IOException {
    if (part.path("status").asInt() != 200) return null;
    var rate = new double[] {rate(part.path("messagesPerSecond")), rate(part.path("bytesPerSecond"))};
    var depth = new double[] {rate(part.path("messagesDepth")), rate(part.path("bytesDepth"))};
    JsonNode quota = part.path("quota");
    var whole = new double[] {rate(quota.path("messagesPerSecond")), rate(quota.path("bytesPerSecond"))};
    return new Told(new Limit(rate, depth), whole, validUntilNanos);
  }

  private static double rate(JsonNode value) throws IOException {
    return value.isNull() ? Limit.UNLIMITED : nonNegative(value);
  }

  private static double nonNegative(JsonNode value) throws IOException {
    if (!value.isNumber() || !(value.asDouble() >= 0)) throw new IOException("nonsense in an answer: " + value);
    return value.asDouble();
  }

  /** Pulsar's metadata is the source: what it says of the groups here is what the node has. */
  private void define(long nowNanos) throws IOException {
    for (Group group : enforcer.groups.values()) {
      double[][] quota = group.pulsarQuota;
      Defined known = defined.computeIfAbsent(group.name, name -> new Defined());
      if (quota == null ? known.rates == null : known.isSame(quota, nowNanos) || group.topics == 0) continue;
      String path = "/admin/v2/resourcegroups/" + URLEncoder.encode(group.name, StandardCharsets.UTF_8).replace("+", "%20");
      String problem = quota == null ? delete(path) : put(path, quota);
      if (problem != null) LOG.warn("quotamesh: the node does not take group {}: {}", group.name, problem);
      known.rates = quota == null ? null : NodeConnection.JSON.valueToTree(quota);
      known.againNanos = problem == null ? 0 : nowNanos + DEFINE_AGAIN_NANOS;
    }
  }

  private String delete(String path) throws IOException {
    int status = node.ask("DELETE", path, null, timeoutMs).status();
    return status == 404 || status < 300 ? null : "deleting it was answered with " + status;
  }

  private String put(String path, double[][] quota) throws IOException {
    ObjectNode wanted = NodeConnection.JSON.createObjectNode();
    for (int direction = 0; direction < 2; direction++) {
      for (int unit = 0; unit < 2; unit++) {
        double rate = quota[direction][unit];
        wanted.put(RATES[direction][unit], rate == Limit.UNLIMITED ? -1 : (long) rate);
      }
    }
    var has = node.ask("GET", path, null, timeoutMs);
    boolean isSame = has.status() == 200;
    for (var field = wanted.fields(); isSame && field.hasNext();) {
      var rate = field.next();
      isSame = has.body().path(rate.getKey()).asLong(-1) == rate.getValue().asLong();
    }
    if (isSame) return null;
    var answer = node.ask("PUT", path, wanted, DEFINE_TIMEOUT_MS);
    return answer.status() < 300 ? null : answer.status() + " " + answer.body().path("reason").asText();
  }

  /** The log of the cluster decides. */
  private static final long DEFINE_TIMEOUT_MS = 2000;

  private void forget(String group) {
    Defined known = defined.get(group);
    if (known != null && known.againNanos == 0) known.forget();
  }

  /** What the node was told of a group, and when it is told again after it has refused. */
  private static final class Defined {
    JsonNode rates;
    long againNanos;

    boolean isSame(double[][] quota, long nowNanos) {
      if (againNanos != 0) return nowNanos - againNanos < 0;
      return rates != null && rates.equals(NodeConnection.JSON.valueToTree(quota));
    }

    void forget() {
      rates = null;
      againNanos = 0;
    }
  }
}
