package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.UnaryOperator;
import org.apache.pulsar.common.policies.data.ResourceGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is said to a node on a Unix socket that answers as it is told to. */
class TalkTest {
  private static final String PART =
      "{\"status\":200,\"messagesPerSecond\":400,\"bytesPerSecond\":null,\"messagesDepth\":20,\"bytesDepth\":null,"
          + "\"quota\":{\"messagesPerSecond\":1000,\"bytesPerSecond\":null}}";
  private static final String GOOD = "{\"version\":1,\"validMs\":3000,\"groups\":[" + PART + "]}";
  private static final long PATIENT_MS = 60_000;
  private static final long SECOND_NANOS = 1_000_000_000L;
  private final Lane lane = laneOf("orders");

  private final ScheduledExecutorService deadlines = Executors.newSingleThreadScheduledExecutor();

  private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
  /** By the first line of a request; null = it never comes. */
  private volatile UnaryOperator<String> answer = request -> ok(GOOD);
  private Path folder;
  private ServerSocketChannel server;
  private Settings settings;
  private Enforcer enforcer;
  private Talk talk;

  @BeforeEach
  void start() throws Exception {
    folder = Files.createTempDirectory("quotamesh");
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(folder.resolve("node.sock")));
    var thread = new Thread(this::serve);
    thread.setDaemon(true);
    thread.start();
    follow("node");
    enforcer.lanes = List.of(countsOf(lane, 7, true));
  }

  private void follow(String groups) throws Exception {
    var conf = new Properties();
    conf.setProperty("quotameshNode", "unix:" + folder.resolve("node.sock"));
    conf.setProperty("quotameshName", "broker-1");
    conf.setProperty("quotameshGroups", groups);
    settings = Settings.of(conf);
    enforcer = new Enforcer(null, settings);
    talk = talkFor(PATIENT_MS);
  }

  private static Lane laneOf(String group) {
    return new Lane(group, "publish", true);
  }

  private static Lane.Counts countsOf(Lane lane, long messages, boolean isHeldBack) {
    lane.count(messages - lane.admitted[Limit.MESSAGES], 100 * messages - lane.admitted[Limit.BYTES]);
    lane.heldBack.isSo = isHeldBack;
    return lane.counts(3);
  }

  private Talk talkFor(long timeoutMs) {
    return new Talk(settings, enforcer, new NodeConnection(settings, deadlines), timeoutMs);
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
    deadlines.shutdownNow();
    Files.delete(folder.resolve("node.sock"));
    Files.delete(folder);
  }

  private static String ok(String body) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + body.length() + "\r\n\r\n" + body;
  }

  private void serve() {
    while (server.isOpen()) {
      try (SocketChannel client = server.accept()) {
        InputStream in = Channels.newInputStream(client);
        var head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
          int read = in.read();
          if (read < 0) throw new IOException("gone");
          head.append((char) read);
        }
        String[] lines = head.toString().split("\r\n");
        int length = head.indexOf("content-length") < 0 ? 0
            : Integer.parseInt(head.toString().replaceAll("(?s).*content-length: (\\d+).*", "$1"));
        asked.add(lines[0] + " " + new String(in.readNBytes(length), StandardCharsets.UTF_8));
        String text = answer.apply(lines[0]);
        if (text == null) in.read();
        else Channels.newOutputStream(client).write(text.getBytes(StandardCharsets.UTF_8));
      } catch (IOException gone) {
        // The next one may come.
      }
    }
  }

  private static void sleepMs(long ms) {
    try {
      Thread.sleep(ms);
    } catch (InterruptedException end) {
      throw new IllegalStateException(end);
    }
  }

  private boolean round() {
    return talk.round(System.nanoTime());
  }

  @Test
  void itTellsCountsAndTakesTheShare() {
    assertTrue(round());
    assertTrue(asked.get(0).startsWith("POST /v1/enforce HTTP/1.0 {"), asked.get(0));
    for (String said : List.of("\"enforcer\":\"broker-1\"", "\"ttlMs\":3000", "\"life\":0", "\"group\":\"orders\"",
        "\"direction\":\"publish\"", "\"heldBack\":true", "\"topics\":3", "\"messages\":7", "\"bytes\":700")) {
      assertTrue(asked.get(0).contains(said), asked.get(0));
    }
    assertFalse(asked.get(0).contains("lane"), asked.get(0));
    assertEquals(400, lane.told.limit().rate()[Limit.MESSAGES]);
    assertEquals(Limit.UNLIMITED, lane.told.limit().rate()[Limit.BYTES]);
    assertEquals(1000, lane.told.quota()[Limit.MESSAGES]);
  }

  @Test
  void itSpeaksWhileSomethingChangesOrSomebodyWaitsAndElseSixTimesInItsTime() {
    enforcer.lanes = List.of(countsOf(lane, 7, false));
    long beganNanos = System.nanoTime();
    assertTrue(talk.round(beganNanos) && talk.round(beganNanos));
    // The first answer's version is news.
    assertEquals(2, asked.size());
    assertTrue(talk.round(beganNanos + 400_000_000L));
    assertEquals(2, asked.size());
    assertTrue(talk.round(beganNanos + 501_000_000L));
    assertEquals(3, asked.size());
    enforcer.lanes = List.of(countsOf(lane, 8, false));
    assertTrue(talk.round(beganNanos + 510_000_000L));
    assertEquals(4, asked.size());
    enforcer.lanes = List.of(countsOf(lane, 8, true));
    for (int round = 1; round <= 3; round++) assertTrue(talk.round(beganNanos + 520_000_000L));
    assertEquals(7, asked.size());
  }

  @Test
  void nonsenseIsNotBelieved() {
    var nonsense = List.of("", "hello", ok(""), ok("hello"), ok("{}"), ok("[]"), ok(GOOD).substring(0, 120), "SSH-2.0\r\n\r\n",
        "HTTP/1.1 409 Conflict\r\n\r\n{\"detail\":\"another\"}", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n" + GOOD,
        ok(GOOD.replace("400", "-400")), ok(GOOD.replace("400", "\"400\"")), ok(GOOD.replace("3000", "null")),
        ok(GOOD.replace("[{", "[{},{")), ok(GOOD.replace(PART, PART + "," + PART)), ok(GOOD.replace("\"groups\"", "\"gruops\"")));
    for (String each : nonsense) {
      answer = request -> each;
      assertFalse(round(), each);
    }
    assertEquals(null, lane.told);
    answer = request -> ok(GOOD);
    assertTrue(round());
    assertEquals(nonsense.size(), talk.failed);
  }

  @Test
  void aNameThatNobodyKnowsIsLookedUpForEachRequest() throws Exception {
    var conf = new Properties();
    // A part of a name has 63 letters at most, so no server is asked for this one.
    conf.setProperty("quotameshNode", "http://" + "x".repeat(64) + ".invalid:7070");
    var node = new NodeConnection(Settings.of(conf), deadlines);
    assertThrows(UnknownHostException.class, () -> node.ask("GET", "/livez", null, PATIENT_MS));
  }

  @Test
  void anAnswerWithoutEndIsReadToItsLargestSize() {
    String endless = "HTTP/1.1 200 OK\r\n\r\n{\"version\":\"" + "x".repeat(5 * 1024 * 1024);
    answer = request -> endless;
    assertFalse(round());
    answer = request -> ok(GOOD);
    assertTrue(round());
  }

  @Test
  void aNodeThatDoesNotAnswerIsWaitedForUntilTheDeadline() {
    answer = request -> null;
    var hurried = talkFor(300);
    long beganNanos = System.nanoTime();
    assertFalse(hurried.round(beganNanos));
    long tookMs = (System.nanoTime() - beganNanos) / 1_000_000;
    assertTrue(tookMs >= 290, tookMs + " ms");
    assertEquals(1, hurried.failed);
    answer = request -> ok(GOOD);
    assertTrue(round());
    assertEquals(1000, settings.timeoutMs());
  }

  @Test
  void withoutAnyoneAtTheSocketItFailsAtOnce() throws IOException {
    server.close();
    assertFalse(round());
    assertEquals(1, talk.failed);
  }

  @Test
  void aGroupThatTheNodeDoesNotKnowHasNoShareAndTheOthersDo() {
    var other = laneOf("other");
    enforcer.lanes = List.of(countsOf(other, 0, false), countsOf(lane, 7, true));
    answer = request -> ok(GOOD.replace("[{", "[{\"status\":404},{"));
    assertTrue(round());
    assertEquals(null, other.told);
    assertEquals(400, lane.told.limit().rate()[Limit.MESSAGES]);
  }

  /** A group of 1,000 messages per second with a topic, which the enforcer knows. */
  private Group groupOf(String name) {
    var group = new Group(name, false, limiter -> {});
    group.topics = 1;
    group.pulsarQuota = new ResourceGroup();
    group.pulsarQuota.setPublishRateInMsgs(1000);
    enforcer.groups.put(name, group);
    return group;
  }

  /** What was asked about groups since the last call. */
  private List<String> definitions() {
    var paths = asked.stream().filter(each -> each.contains("/admin/")).toList();
    asked.clear();
    return paths;
  }

  @Test
  void pulsarsGroupsAreMadeChangedAndDeletedAtTheNodeOnceEach() throws Exception {
    follow("pulsar");
    var group = groupOf("a b");
    enforcer.lanes = List.of(countsOf(group.publish, 7, true));
    String path = "/admin/v2/resourcegroups/a%20b HTTP/1.0 ";
    String put = "PUT " + path + "{\"publishRateInMsgs\":RATE,\"publishRateInBytes\":-1,\"dispatchRateInMsgs\":-1,\"dispatchRateInBytes\":-1}";
    answer = request -> ok(request.startsWith("POST") ? GOOD : "{}");
    assertTrue(round() && round());
    assertEquals(List.of("GET " + path, put.replace("RATE", "1000")), definitions());
    var changed = new ResourceGroup();
    changed.setPublishRateInMsgs(500);
    group.pulsarQuota = changed;
    assertTrue(round() && round());
    assertEquals(List.of("GET " + path, put.replace("RATE", "500")), definitions());
    group.pulsarQuota = null;
    assertTrue(round() && round());
    assertEquals(List.of("DELETE " + path), definitions());
  }

  @Test
  void manyNewGroupsDoNotKeepTheSharesOfTheOthersWaiting() throws Exception {
    follow("pulsar");
    talk = talkFor(1000);
    for (int number = 0; number < 30; number++) {
      groupOf("g" + number);
    }
    enforcer.lanes = List.of(countsOf(enforcer.groups.get("g0").publish, 7, true));
    answer = request -> {
      if (request.startsWith("POST")) return ok(GOOD);
      sleepMs(50);
      return ok("{}");
    };
    assertTrue(round());
    int definitions = asked.size() - 1;
    assertTrue(definitions <= 20, definitions + " requests of 50 ms before the shares");
    while (asked.stream().filter(each -> each.startsWith("PUT")).count() < 30) assertTrue(round());
  }

  @Test
  void theLastGroupIsDeletedAtTheNodeTooAndWhoeverKeepsQuietSaysNothing() throws Exception {
    follow("pulsar");
    var group = new Group("orders", false, limiter -> {});
    group.topics = 1;
    group.pulsarQuota = new ResourceGroup();
    enforcer.groups.put(group.name, group);
    enforcer.lanes = List.of(countsOf(group.publish, 7, true));
    answer = request -> ok(request.startsWith("POST") ? GOOD : "{}");
    assertTrue(round());
    asked.clear();
    group.topics = 0;
    group.pulsarQuota = null;
    enforcer.lanes = null;
    assertTrue(round());
    assertEquals(List.of(), asked);
    enforcer.lanes = List.of();
    assertTrue(round() && round());
    assertEquals(List.of("DELETE /admin/v2/resourcegroups/orders HTTP/1.0 "), asked);
  }

  @Test
  void whatTheNodeHasAlreadyIsNotWrittenAgainAndWhatItRefusesIsAskedAgainAfterTenSeconds() throws Exception {
    follow("pulsar");
    for (String name : List.of("known", "refused")) {
      var group = new Group(name, false, limiter -> {});
      group.topics = 1;
      group.pulsarQuota = new ResourceGroup();
      group.pulsarQuota.setDispatchRateInBytes(70L);
      enforcer.groups.put(name, group);
    }
    enforcer.lanes = List.of(countsOf(enforcer.groups.get("known").dispatch, 7, true));
    answer = request -> request.startsWith("POST") ? ok(GOOD) : request.contains("known") ? ok("{\"dispatchRateInBytes\":70}")
        : "HTTP/1.1 422 Unprocessable\r\n\r\n{\"reason\":\"its name\"}";
    long beganNanos = System.nanoTime();
    assertTrue(talk.round(beganNanos) && talk.round(beganNanos + 9 * SECOND_NANOS));
    assertEquals(3, definitions().size());
    assertTrue(talk.round(beganNanos + 10 * SECOND_NANOS));
    assertEquals(2, definitions().size());
  }
}
