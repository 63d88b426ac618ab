package io.quotamesh.pulsar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.Channels;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Requests over TCP or a Unix socket, which the HTTP client of Java 17 does not know. HTTP/1.0: the node closes the
 * connection behind its answer, so that whatever comes until then is the answer.
 */
final class NodeConnection {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final int ANSWER_BYTES_MAX = 4 * 1024 * 1024;

  private final SocketAddress address;
  private final String fields;
  private final ScheduledExecutorService deadlines;

  NodeConnection(Settings settings, ScheduledExecutorService deadlines) {
    this.deadlines = deadlines;
    String node = settings.node();
    boolean isUnix = node.startsWith("unix:");
    URI uri = URI.create(isUnix ? "http://localhost" : node);
    int port = uri.getPort() == -1 ? 80 : uri.getPort();
    address = isUnix ? UnixDomainSocketAddress.of(node.substring(5)) : InetSocketAddress.createUnresolved(uri.getHost(), port);
    String token = settings.token() == null ? "" : "authorization: Bearer " + settings.token() + "\r\n";
    fields = " HTTP/1.0\r\nhost: " + uri.getAuthority() + "\r\n" + token;
  }

  record Answer(int status, JsonNode body) {}

  /** Looked up for each request: the broker does not wait for it when it starts, and a name may be known later. */
  private SocketAddress resolved() throws UnknownHostException {
    if (!(address instanceof InetSocketAddress named)) return address;
    return new InetSocketAddress(InetAddress.getByName(named.getHostString()), named.getPort());
  }

  /** @param body null = none. At the deadline the connection is closed, whatever it is about to do. */
  Answer ask(String method, String path, Object body, long timeoutMs) throws IOException {
    boolean isUnix = address instanceof UnixDomainSocketAddress;
    try (var channel = isUnix ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open()) {
      var deadline = deadlines.schedule(() -> {
        channel.close();
        return null;
      }, timeoutMs, TimeUnit.MILLISECONDS);
      try {
        channel.connect(resolved());
        Channels.newOutputStream(channel).write(request(method + " " + path, body));
        return answer(Channels.newInputStream(channel).readNBytes(ANSWER_BYTES_MAX));
      } finally {
        deadline.cancel(false);
      }
    } catch (ClosedChannelException closed) {
      throw new SocketTimeoutException("no answer within " + timeoutMs + " ms");
    }
  }

  private byte[] request(String start, Object body) throws IOException {
    String json = body == null ? "" : JSON.writeValueAsString(body);
    int length = json.getBytes(StandardCharsets.UTF_8).length;
    String type = body == null ? "" : "content-type: application/json\r\ncontent-length: " + length + "\r\n";
    return (start + fields + type + "\r\n" + json).getBytes(StandardCharsets.UTF_8);
  }

  private static Answer answer(byte[] whole) throws IOException {
    String[] parts = new String(whole, StandardCharsets.UTF_8).split("\r\n\r\n", 2);
    if (parts.length < 2 || !parts[0].matches("(?s)HTTP/1\\.\\d \\d{3}\\b.*")) throw new IOException("no HTTP answer");
    // Of what was cut off, nothing can be read.
    return new Answer(Integer.parseInt(parts[0].substring(9, 12)), JSON.readTree(parts[1]));
  }
}
