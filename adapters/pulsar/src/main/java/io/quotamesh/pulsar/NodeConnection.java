package io.quotamesh.pulsar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * HTTP/1.1 over TCP or a Unix socket, one request at a time, each with a deadline, at which the connection is closed.
 * The HTTP client of Java 17 has no Unix sockets.
 */
final class NodeConnection {
  static final ObjectMapper JSON = new ObjectMapper();
  private static final int HEAD_MAX = 16 * 1024;
  private static final int BODY_MAX = 4 * 1024 * 1024;

  private final SocketAddress address;
  private final String fields;
  private final ScheduledExecutorService deadlines;
  private volatile SocketChannel channel;
  private InputStream in;

  NodeConnection(Settings settings, ScheduledExecutorService deadlines) {
    this.deadlines = deadlines;
    String node = settings.node();
    boolean isUnix = node.startsWith("unix:");
    URI uri = URI.create(isUnix ? "http://localhost" : node);
    int port = uri.getPort() == -1 ? 80 : uri.getPort();
    address = isUnix ? UnixDomainSocketAddress.of(node.substring(5)) : new InetSocketAddress(uri.getHost(), port);
    String token = settings.token() == null ? "" : "authorization: Bearer " + settings.token() + "\r\n";
    fields = " HTTP/1.1\r\nhost: " + uri.getAuthority() + "\r\n" + token;
  }

  record Answer(int status, JsonNode body) {}

  Answer ask(String method, String path, JsonNode body, long timeoutMs) throws IOException {
    var deadline = deadlines.schedule(this::close, timeoutMs, TimeUnit.MILLISECONDS);
    boolean isWhole = false;
    try {
      write(method + " " + path, body == null ? new byte[0] : JSON.writeValueAsBytes(body));
      Answer answer = read();
      isWhole = true;
      return answer;
    } catch (IOException failure) {
      throw deadline.isDone() ? new SocketTimeoutException("no answer in time") : failure;
    } finally {
      deadline.cancel(false);
      if (!isWhole) close();
    }
  }

  /** From any thread: who reads or writes gets an exception. */
  private void close() {
    try (var closed = channel) {
      channel = null;
    } catch (IOException ignored) {
      // Nothing of it is used again.
    }
  }

  private void write(String request, byte[] body) throws IOException {
    if (channel == null) {
      boolean isUnix = address instanceof UnixDomainSocketAddress;
      var opened = isUnix ? SocketChannel.open(StandardProtocolFamily.UNIX) : SocketChannel.open();
      channel = opened;
      opened.connect(address);
      in = new BufferedInputStream(Channels.newInputStream(opened));
    }
    String type = body.length == 0 ? "" : "content-type: application/json\r\ncontent-length: " + body.length + "\r\n";
    byte[] head = (request + fields + type + "\r\n").getBytes(StandardCharsets.US_ASCII);
    var whole = ByteBuffer.allocate(head.length + body.length).put(head).put(body).flip();
    var open = channel;
    if (open == null) throw new EOFException("closed");
    while (whole.hasRemaining()) open.write(whole);
  }

  private Answer read() throws IOException {
    var head = new StringBuilder();
    while (head.indexOf("\r\n\r\n", head.length() - 4) < 0) {
      int next = in.read();
      if (next < 0) throw new EOFException("the node has closed the connection");
      if (head.append((char) next).length() > HEAD_MAX) throw new IOException("a head of more than " + HEAD_MAX + " bytes");
    }
    String[] lines = head.toString().toLowerCase(Locale.ROOT).split("\r\n");
    if (!lines[0].matches("http/1\\.1 \\d{3}.*")) throw new IOException("no HTTP answer");
    int status = Integer.parseInt(lines[0].substring(9, 12));
    int length = status == 204 ? 0 : length(lines);
    byte[] body = in.readNBytes(length);
    if (body.length < length) throw new EOFException("the node has closed the connection");
    return new Answer(status, length == 0 ? MissingNode.getInstance() : JSON.readTree(body));
  }

  private static int length(String[] lines) throws IOException {
    for (String line : lines) {
      if (!line.matches("content-length: *\\d{1,9} *")) continue;
      int length = Integer.parseInt(line.substring(15).strip());
      if (length <= BODY_MAX) return length;
    }
    throw new IOException("an answer without a content-length of at most " + BODY_MAX);
  }
}
