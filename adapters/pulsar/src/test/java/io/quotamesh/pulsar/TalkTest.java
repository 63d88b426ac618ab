package io.quotamesh.pulsar;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.quotamesh.pulsar.Group.Lane;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
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
  private final Lane lane = laneOf("orders", 7, true);

  private final ScheduledExecutorService deadlines = Executors.newSingleThreadScheduledExecutor();

  private final List<String> asked = Collections.synchronizedList(new ArrayList<>());
  private volatile String answer = GOOD;
  private Path folder;
  private ServerSocketChannel server;
  private Settings settings;
  private Enforcer enforcer;
  private Talk talk;

  @BeforeEach
  void start() throws Exception {
    folder = Files.createTempDirectory("quotamesh");
    Path socket = folder.resolve("node.sock");
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
    var thread = new Thread(this::serve);
    thread.setDaemon(true);
    thread.start();
    var conf = new Properties();
    conf.setProperty("quotameshNode", "unix:" + socket);
    conf.setProperty("quotameshGroups", "node");
    settings = Settings.of(conf, "broker-1");
    enforcer = new Enforcer(null, settings);
    talk = talkFor(PATIENT_MS);
    enforcer.lanes = List.of(lane);
  }

  private static Lane laneOf(String group, long messages, boolean isHeldBack) {
    return new Lane(new Group(group, true, limiter -> {}), Group.PUBLISH, messages, 100 * messages, isHeldBack);
  }

  private Talk talkFor(long timeoutMs) {
    return new Talk(settings, enforcer, new NodeConnection(settings, deadlines), timeoutMs);
  }

  private static Share.Told toldOf(Lane lane) {
    return lane.group().shares[lane.direction()].told;
  }

  @AfterEach
  void stop() throws IOException {
    server.close();
    deadlines.shutdownNow();
    Files.delete(folder.resolve("node.sock"));
    Files.delete(folder);
  }

  private void serve() {
    while (server.isOpen()) {
      try (SocketChannel client = server.accept()) {
        InputStream in = Channels.newInputStream(client);
        OutputStream out = Channels.newOutputStream(client);
        while (true) {
          var head = new StringBuilder();
          while (head.indexOf("\r\n\r\n") < 0) {
            int read = in.read();
            if (read < 0) throw new IOException("gone");
            head.append((char) read);
          }
          int length = Integer.parseInt(head.toString().replaceAll("(?s).*content-length: (\\d+).*", "$1"));
          asked.add(new String(in.readNBytes(length), StandardCharsets.UTF_8));
          String text = answer;
          if (text == null) continue;
          String start = text.startsWith("HTTP") ? "" : "HTTP/1.1 200 OK\r\nContent-Length: " + text.length() + "\r\n\r\n";
          out.write((start + text).getBytes(StandardCharsets.UTF_8));
        }
      } catch (IOException gone) {
        // The next one may come.
      }
    }
  }

  private boolean round() {
    return talk.round(System.nanoTime());
  }

  @Test
  void itTellsCountsAndTakesTheShare() {
    assertTrue(round());
    assertTrue(asked.get(0).contains("\"group\":\"orders\",\"direction\":\"publish\",\"heldBack\":true,"
        + "\"admitted\":{\"messages\":7,\"bytes\":700}"), asked.get(0));
    assertEquals(400, toldOf(lane).limit().rate()[Limit.MESSAGES]);
    assertEquals(Limit.UNLIMITED, toldOf(lane).limit().rate()[Limit.BYTES]);
    assertEquals(1000, toldOf(lane).quota()[Limit.MESSAGES]);
  }

  @Test
  void itSpeaksWhileSomethingChangesOrSomebodyWaitsAndElseSixTimesInItsTime() {
    enforcer.lanes = List.of(laneOf("orders", 7, false));
    long beganNanos = System.nanoTime();
    assertTrue(talk.round(beganNanos) && talk.round(beganNanos));
    // The first answer's version is news.
    assertEquals(2, asked.size());
    assertTrue(talk.round(beganNanos + 400_000_000L));
    assertEquals(2, asked.size());
    assertTrue(talk.round(beganNanos + 501_000_000L));
    assertEquals(3, asked.size());
    enforcer.lanes = List.of(laneOf("orders", 8, false));
    assertTrue(talk.round(beganNanos + 510_000_000L));
    assertEquals(4, asked.size());
    enforcer.lanes = List.of(laneOf("orders", 8, true));
    for (int round = 1; round <= 3; round++) assertTrue(talk.round(beganNanos + 520_000_000L));
    assertEquals(7, asked.size());
  }

  @Test
  void nonsenseIsNotBelieved() {
    var nonsense = List.of("", "hello", "{}", "[]", "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
        "HTTP/1.1 409 Conflict\r\nContent-Length: 20\r\n\r\n{\"detail\":\"another\"}", "SSH-2.0\r\n\r\n",
        GOOD.replace("400", "-400"), GOOD.replace("400", "\"400\""), GOOD.replace("3000", "null"),
        GOOD.replace("[{", "[{},{"), GOOD.replace(PART, PART + "," + PART), GOOD.replace("\"groups\"", "\"gruops\""));
    for (String each : nonsense) {
      answer = each;
      assertFalse(round(), each);
    }
    assertEquals(null, toldOf(lane));
    answer = GOOD;
    assertTrue(round());
    assertEquals(nonsense.size(), talk.failed);
  }

  @Test
  void aNodeThatDoesNotAnswerIsWaitedForUntilTheDeadline() {
    answer = null;
    var hurried = talkFor(300);
    long beganNanos = System.nanoTime();
    assertFalse(hurried.round(beganNanos));
    long tookMs = (System.nanoTime() - beganNanos) / 1_000_000;
    assertTrue(tookMs >= 290, tookMs + " ms");
    assertEquals(1, hurried.failed);
    answer = GOOD;
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
    var other = laneOf("other", 0, false);
    enforcer.lanes = List.of(other, lane);
    answer = GOOD.replace("[{", "[{\"status\":404},{");
    assertTrue(round());
    assertEquals(null, toldOf(other));
    assertEquals(400, toldOf(lane).limit().rate()[Limit.MESSAGES]);
  }
}
