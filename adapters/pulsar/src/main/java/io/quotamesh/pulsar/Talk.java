package io.quotamesh.pulsar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quotamesh.pulsar.NodeConnection.Answer;
import io.quotamesh.pulsar.Lane.Told;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.commons.lang3.StringUtils;
import org.apache.pulsar.common.policies.data.ResourceGroup;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is said to the node. Nobody else waits for it. */
final class Talk implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Talk.class);
  private static final long RETRY_NANOS = 200_000_000L;
  /** A change of a group is answered when it is in the log of the cluster. */
  private static final long DEFINE_TIMEOUT_MS = 2000;
  private static final long DEFINE_AGAIN_NANOS = 10_000_000_000L;
  /** A request has so many lanes at most; what is beyond has quota ÷ brokers. */
  private static final int LANES_MAX = 1000;
  /** Of what a node says, in the log of the broker. */
  private static final int SAID_LENGTH_MAX = 300;

  private final Settings settings;
  private final Enforcer enforcer;
  private final NodeConnection node;
  private final long timeoutMs;
  private final Map<String, ResourceGroup> defined = new HashMap<>();
  private final Map<String, Refusal> refusals = new HashMap<>();
  private List<Lane.Counts> sent = List.of();
  private long version = -1;
  private boolean hasMoved;
  private long sentNanos;
  private String problem;
  private long failedNanos;
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
    long nowNanos = System.nanoTime();
    if (problem == null || nowNanos - failedNanos >= RETRY_NANOS) round(nowNanos);
  }

  /** @return whether all went well */
  boolean round(long nowNanos) {
    List<Lane.Counts> lanes = enforcer.lanes;
    if (lanes == null) return true;
    boolean isRecent = nowNanos - sentNanos < settings.isolationMs() * 1_000_000 / 6;
    // Who is held back waits for more, and its counts may stand still.
    boolean isNews = hasMoved || !lanes.equals(sent) || lanes.stream().anyMatch(Lane.Counts::heldBack);
    if (isRecent && !isNews) return true;
    try {
      if (!settings.isNodeSource()) {
        // A request each, and the shares must not wait for all of them.
        for (Group group : enforcer.groups.values()) {
          if (System.nanoTime() - nowNanos < timeoutMs * 1_000_000) define(group, nowNanos);
        }
      }
      if (lanes.isEmpty()) return true;
      report(lanes.subList(0, Math.min(LANES_MAX, lanes.size())));
      sent = lanes;
      sentNanos = nowNanos;
      answered++;
      answeredNanos = System.nanoTime();
      if (problem != null) LOG.info("quotamesh: the node answers again");
      problem = null;
      return true;
    } catch (Throwable failure) {
      // The last shares are kept for as long as they are valid, and then this broker is alone.
      failed++;
      failedNanos = nowNanos;
      String text = StringUtils.abbreviate(String.valueOf(failure.getMessage()), SAID_LENGTH_MAX);
      if (!text.equals(problem)) LOG.warn("quotamesh: {} is not followed: {}", settings.node(), text);
      problem = text;
      return false;
    }
  }

  private void report(List<Lane.Counts> lanes) throws IOException {
    Object report = Map.of("enforcer", enforcer.name(), "life", enforcer.life, "ttlMs", settings.isolationMs(), "groups", lanes);
    long askedNanos = System.nanoTime();
    Answer answer = node.ask("POST", "/v1/enforce", report, timeoutMs);
    JsonNode told = answer.body();
    if (answer.status() != 200) throw new IOException(answer.status() + " " + told.path("detail").asText());
    double validMs = Math.min(nonNegative(told.path("validMs")), settings.isolationMs());
    if (told.path("groups").size() != lanes.size()) throw new IOException("an answer for other groups");
    var parts = new ArrayList<Told>();
    for (JsonNode part : told.path("groups")) parts.add(toldOf(part, askedNanos + (long) (validMs * 1e6)));
    // Nothing is believed of an answer that has nonsense in it.
    for (int at = 0; at < lanes.size(); at++) {
      Lane lane = lanes.get(at).lane();
      // Without a part the share from before lasts to its end.
      if (parts.get(at) != null) lane.told = parts.get(at);
      else if (told.path("groups").get(at).path("status").asInt() == 404) defined.remove(lane.group);
    }
    hasMoved = version != told.path("version").asLong();
    version = told.path("version").asLong();
  }

  /** Null: the node has no part for the lane now. */
  private static Told toldOf(JsonNode part, long validUntilNanos) throws IOException {
    if (part.path("status").asInt() != 200) return null;
    var limit = new Limit(pair(part, "PerSecond"), pair(part, "Depth"));
    return new Told(limit, pair(part.path("quota"), "PerSecond"), validUntilNanos);
  }

  private static double[] pair(JsonNode told, String what) throws IOException {
    JsonNode messages = told.path("messages" + what);
    JsonNode bytes = told.path("bytes" + what);
    return new double[] {limit(messages), limit(bytes)};
  }

  private static double limit(JsonNode value) throws IOException {
    return value.isNull() ? Limit.UNLIMITED : nonNegative(value);
  }

  private static double nonNegative(JsonNode value) throws IOException {
    if (!value.isNumber() || !(value.asDouble() >= 0)) throw new IOException("nonsense in an answer: " + value);
    return value.asDouble();
  }

  /** Pulsar's metadata is the source: what it says of the groups here is what the node has. */
  private void define(Group group, long nowNanos) throws IOException {
    ResourceGroup quota = group.pulsarQuota;
    boolean isUnused = quota != null && group.topics == 0;
    if (isUnused || Objects.equals(quota, defined.get(group.name))) return;
    Refusal before = refusals.get(group.name);
    if (before != null && nowNanos - before.atNanos < DEFINE_AGAIN_NANOS) return;
    String path = "/admin/v2/resourcegroups/" + URLEncoder.encode(group.name, StandardCharsets.UTF_8).replace("+", "%20");
    Answer answer = quota == null ? node.ask("DELETE", path, null, DEFINE_TIMEOUT_MS) : put(path, quota);
    if (answer.status() < 300 || quota == null && answer.status() == 404) {
      refusals.remove(group.name);
      defined.put(group.name, quota);
      return;
    }
    String reason = StringUtils.abbreviate(answer.body().path("reason").asText(), SAID_LENGTH_MAX);
    String text = answer.status() + " " + reason;
    boolean isKnown = before != null && before.text.equals(text);
    if (!isKnown) LOG.warn("quotamesh: the node does not take group {}: {}", group.name, text);
    refusals.put(group.name, new Refusal(text, nowNanos));
  }

  private record Refusal(String text, long atNanos) {}

  /** Where the node has these rates already, nothing is written to the log of the cluster. */
  private Answer put(String path, ResourceGroup quota) throws IOException {
    ObjectNode wanted = NodeConnection.JSON.valueToTree(quota);
    Answer has = node.ask("GET", path, null, timeoutMs);
    boolean isSame = has.status() == 200;
    for (var rate : wanted.properties()) {
      // Of a rate that is null the node would keep what it has.
      long value = Math.max(-1, rate.getValue().asLong(-1));
      rate.setValue(LongNode.valueOf(value));
      isSame &= has.body().path(rate.getKey()).asLong(-1) == value;
    }
    return isSame ? has : node.ask("PUT", path, wanted, DEFINE_TIMEOUT_MS);
  }
}
