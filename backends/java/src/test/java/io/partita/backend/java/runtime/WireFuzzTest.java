package io.partita.backend.java.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.java.DeviceKey;
import io.partita.ir.fuzz.ByteMutator;
import io.partita.ir.fuzz.Fuzzer;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests damaged bytes that reach a waiting device, without the key and with it. */
@Timeout(7200)
class WireFuzzTest {
  private static final double SECONDS = 2;
  private static final int[][] PAIR = {{1}, {0}};

  /** Devices connect in spite of strangers, but after a refused greeting they wait in vain. */
  private static final int CONNECT_SECONDS = 20;

  private static final int REFUSED_SECONDS = 2;
  static final int MAGIC = 0x50415254;

  @TempDir Path folder;
  private Credentials credentials;

  @BeforeEach
  void makeKey() throws IOException {
    DeviceKey.make(folder.resolve("devices.p12"));
    credentials = new Credentials(folder.resolve("devices.p12"));
  }

  private static void fuzz(String name, double share, Fuzzer.Source source, Fuzzer.Target target)
      throws IOException {
    Fuzzer fuzzer = new Fuzzer(name, Path.of("target", "fuzz"));
    fuzzer.run(SECONDS, share, source, target);
    assertThat(fuzzer.findings()).isEmpty();
    assertThat(fuzzer.trials()).isPositive();
  }

  /** Tests that the devices connect and exchange a message in spite of a stranger. */
  @Test
  void strangersDisturbNobody() throws IOException {
    List<byte[]> greetings =
        List.of(
            clientHello(), greeting(), "GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
    fuzz(
        "stranger",
        0.4,
        random -> new ByteMutator(random).mutate(greetings.get(random.nextInt(3))),
        (file, random) -> meet(file, false));
  }

  /** Tests that a greeting with the key is refused with a reason, or taken. */
  @Test
  void greetingsWithTheKeyAreTakenOrRefused() throws IOException {
    fuzz(
        "greeting",
        0.4,
        random -> new ByteMutator(random).mutate(greeting()),
        (file, random) -> meet(file, true));
  }

  @Test
  void arraysAreReadOrRefused() throws IOException {
    byte[] arrays =
        Frames.bytes(
            new Object[] {
              new float[9], new long[3], null, new byte[2], new boolean[5], new int[1]
            });
    fuzz(
        "message",
        0.2,
        random -> new ByteMutator(random).mutate(arrays),
        (file, random) -> {
          try {
            Frames.arrays(Files.readAllBytes(file));
          } catch (IllegalStateException refused) {
            // A valid outcome.
          }
        });
  }

  private static ServerSocket free() throws IOException {
    return new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
  }

  private SocketChannels.Self self(
      int device, ServerSocket first, ServerSocket second, int seconds) {
    List<InetSocketAddress> addresses =
        List.of(
            InetSocketAddress.createUnresolved("127.0.0.1", first.getLocalPort()),
            InetSocketAddress.createUnresolved("127.0.0.1", second.getLocalPort()));
    return new SocketChannels.Self(device, addresses, "program", PAIR, seconds, credentials);
  }

  /** Connects two devices after a third party has sent a file to the first. */
  private void meet(Path file, boolean hasKey) throws IOException {
    ServerSocket first = free();
    ServerSocket second = free();
    int seconds = hasKey ? REFUSED_SECONDS : CONNECT_SECONDS;
    CompletableFuture<SocketChannels> waiting =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(0, first, second, seconds), first));
    try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), first.getLocalPort())) {
      send(stranger, Files.readAllBytes(file), hasKey);
      try (SocketChannels peer = SocketChannels.connect(self(1, first, second, seconds), second);
          SocketChannels own = waiting.join()) {
        if (hasKey) {
          // It may have been taken for the peer, whose link is closed then.
          stranger.shutdownOutput();
        }
        peer.send(0, 1, new byte[3]);
        if (own.receive(1, 1, 3).length != 3) {
          throw new AssertionError("another message");
        }
      }
    } catch (CompletionException | Channels.Failure | IllegalStateException refused) {
      requireByKey(refused, hasKey);
    }
  }

  private static void requireByKey(RuntimeException refused, boolean hasKey) {
    Throwable cause = refused instanceof CompletionException ? refused.getCause() : refused;
    boolean isTold = cause instanceof Channels.Failure || cause instanceof IllegalStateException;
    if (!hasKey || !isTold) {
      throw refused;
    }
  }

  private void send(Socket stranger, byte[] bytes, boolean hasKey) {
    try {
      Socket socket = hasKey ? credentials.secured(stranger, true) : stranger;
      socket.getOutputStream().write(bytes);
      socket.getOutputStream().flush();
    } catch (IOException dropped) {
      // The device may drop it at once.
    }
  }

  /** The content of the first frame of device 1 to device 0. */
  static byte[] content(String program) throws IOException {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(content);
    out.writeInt(2);
    out.writeUTF(program);
    out.writeChar('m');
    out.writeInt(1);
    out.writeInt(0);
    return content.toByteArray();
  }

  /** What a device sends first after the handshake. */
  private static byte[] greeting() throws IOException {
    byte[] content = content("program");
    ByteArrayOutputStream frame = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(frame);
    out.writeInt(MAGIC);
    out.writeInt(content.length);
    out.write(content);
    // That the answer has arrived.
    out.writeInt(MAGIC);
    out.writeInt(0);
    return frame.toByteArray();
  }

  /** What a device sends first of the handshake. */
  private byte[] clientHello() throws IOException {
    try (ServerSocket server = free();
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getLocalPort());
        Socket accepted = server.accept()) {
      CompletableFuture.runAsync(
          () -> {
            try {
              credentials.secured(socket, true);
            } catch (IOException closed) {
              // Nobody answers.
            }
          });
      byte[] hello = new byte[8192];
      int length = accepted.getInputStream().read(hello);
      return Arrays.copyOf(hello, length);
    }
  }
}
