package io.partita.backend.java.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.java.DeviceKey;
import io.partita.backend.java.runtime.Channels.Failure;
import io.partita.backend.java.runtime.Channels.Reason;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SocketChannelsTest {
  private static final int[][] PAIR = {{1}, {0}};

  @TempDir static Path folder;
  private static Credentials credentials;

  @BeforeAll
  static void makeKey() throws IOException {
    credentials = key("devices.p12");
  }

  private static Credentials key(String name) throws IOException {
    DeviceKey.make(folder.resolve(name));
    return new Credentials(folder.resolve(name));
  }

  private static SocketChannels.Self self(int device, String program, ServerSocket... servers) {
    return self(device, program, 4, credentials, servers);
  }

  private static SocketChannels.Self self(
      int device, String program, int seconds, Credentials credentials, ServerSocket... servers) {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (ServerSocket server : servers) {
      addresses.add(InetSocketAddress.createUnresolved("127.0.0.1", server.getLocalPort()));
    }
    return new SocketChannels.Self(device, addresses, program, PAIR, seconds, credentials);
  }

  private static ServerSocket free() throws IOException {
    return new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
  }

  private static void assertFails(ThrowingOpen open, Reason reason, int device) {
    assertThatThrownBy(open::run)
        .isInstanceOfSatisfying(
            Failure.class,
            failure -> {
              assertThat(failure.reason()).isEqualTo(reason);
              assertThat(failure.device()).isEqualTo(device);
            });
  }

  private interface ThrowingOpen {
    void run() throws Exception;
  }

  @Test
  void failuresOfProgramsAreTheirMessages() {
    assertThat(Channels.failed(1, new ArithmeticException("/ by zero"))).hasMessage("/ by zero");
    assertThat(Channels.failed(1, new StackOverflowError())).hasMessage("StackOverflowError");
    Failure told = new Failure(Reason.ENDED, 2, "ended", null);
    assertThat(Channels.failed(1, told)).isSameAs(told);
  }

  @Test
  void messagesArriveInOrder() throws Exception {
    ServerSocket first = free();
    ServerSocket second = free();
    CompletableFuture<SocketChannels> other =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(1, "p", first, second), second));
    try (SocketChannels own = SocketChannels.connect(self(0, "p", first, second), first);
        SocketChannels peer = other.get()) {
      for (int i = 0; i < 3; i++) {
        own.send(1, i, new byte[] {(byte) i});
      }
      for (int i = 0; i < 3; i++) {
        assertThat(peer.receive(0, i, 1)).containsExactly(i);
      }
      assertThatThrownBy(
              () -> {
                peer.send(0, 5, new byte[2]);
                own.receive(1, 4, 2);
              })
          .hasMessage("expected sync 4 with 2 bytes from device 1, found sync 5 with 2 bytes");
      peer.end(Channels.failed(1, new IllegalStateException("over")));
      assertFails(() -> own.receive(1, 6, 1), Reason.ENDED, 1);
    }
  }

  @Test
  void missingDevice() throws IOException {
    ServerSocket absent = free();
    absent.close();
    ServerSocket own = free();
    assertFails(
        () -> SocketChannels.connect(self(1, "p", 1, credentials, absent, own), own),
        Reason.UNREACHABLE,
        0);
    ServerSocket first = free();
    assertFails(
        () -> SocketChannels.connect(self(0, "p", 1, credentials, first, absent), first),
        Reason.UNREACHABLE,
        1);
  }

  @Test
  void bothSidesDetectDifferentPrograms() throws IOException {
    ServerSocket first = free();
    ServerSocket second = free();
    CompletableFuture<SocketChannels> other =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(1, "q", first, second), second));
    assertFails(
        () -> SocketChannels.connect(self(0, "p", first, second), first), Reason.MISMATCH, 0);
    assertThatThrownBy(other::get)
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("program p, not q");
  }

  /** Tests a peer with another protocol, and a silent one. */
  @Test
  void strangersDontPreventConnections() throws Exception {
    ServerSocket first = free();
    ServerSocket second = free();
    try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), first.getLocalPort())) {
      assertThat(silent.isConnected()).isTrue();
    }
    try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), first.getLocalPort())) {
      stranger.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.UTF_8));
      CompletableFuture<SocketChannels> other =
          CompletableFuture.supplyAsync(
              () -> SocketChannels.connect(self(1, "p", first, second), second));
      try (SocketChannels own = SocketChannels.connect(self(0, "p", first, second), first);
          SocketChannels peer = other.get();
          InputStream in = stranger.getInputStream()) {
        peer.send(0, 1, new byte[3]);
        assertThat(own.receive(1, 1, 3)).hasSize(3);
        // The answer is only a TLS alert.
        assertThat(in.readAllBytes()).hasSizeLessThan(10);
      }
    }
  }

  /** Tests more silent connections than can be served at once. */
  @Test
  void silentConnectionsDontBlockDevices() throws Exception {
    ServerSocket first = free();
    ServerSocket second = free();
    List<Socket> silent = new ArrayList<>();
    CompletableFuture<SocketChannels> own =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(0, "p", first, second), first));
    try {
      for (int i = 0; i < 80; i++) {
        silent.add(new Socket(InetAddress.getLoopbackAddress(), first.getLocalPort()));
      }
      try (SocketChannels peer = SocketChannels.connect(self(1, "p", first, second), second);
          SocketChannels there = own.get()) {
        peer.send(0, 1, new byte[3]);
        assertThat(there.receive(1, 1, 3)).hasSize(3);
      }
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  /**
   * Tests a greeting of an earlier version, which once ended a waiting device and disclosed the
   * program.
   */
  @Test
  void greetingsWithoutTheKeyAreNotAnswered() throws Exception {
    ServerSocket first = free();
    ServerSocket second = free();
    CompletableFuture<SocketChannels> own =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(0, "secret program", first, second), first));
    try (Socket stranger = new Socket(InetAddress.getLoopbackAddress(), first.getLocalPort())) {
      DataOutputStream out = new DataOutputStream(stranger.getOutputStream());
      out.writeInt(0x50415254);
      out.writeInt(21);
      out.writeInt(1);
      out.writeUTF("q");
      out.writeChar('m');
      out.writeInt(1);
      out.writeInt(0);
      out.write(0);
      out.flush();
      stranger.setSoTimeout(10_000);
      byte[] answer = stranger.getInputStream().readAllBytes();
      assertThat(new String(answer, StandardCharsets.ISO_8859_1)).doesNotContain("secret");
    } catch (SocketException reset) {
      // There is no answer either.
    }
    assertThat(own).isNotDone();
    try (SocketChannels peer =
            SocketChannels.connect(self(1, "secret program", first, second), second);
        SocketChannels there = own.get()) {
      assertThat(there.calls).containsOnlyKeys(1);
      assertThat(peer.calls).containsOnlyKeys(0);
    }
  }

  /**
   * Tests a device that connects again since it got no answer in time, which once left both
   * waiting: a connection counts only when the device has said that it has the answer.
   */
  @Test
  void connectionsThatWereGivenUpDontCount() throws Exception {
    ServerSocket first = free();
    ServerSocket second = free();
    CompletableFuture<SocketChannels> own =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(0, "p", first, second), first));
    try (Socket early = new Socket(InetAddress.getLoopbackAddress(), first.getLocalPort());
        Frames frames = new Frames(credentials.secured(early, true), early)) {
      frames.write(WireFuzzTest.MAGIC, WireFuzzTest.content("p"));
      assertThat(frames.readShort().number).isEqualTo(WireFuzzTest.MAGIC);
      try (SocketChannels peer = SocketChannels.connect(self(1, "p", first, second), second);
          SocketChannels there = own.get()) {
        peer.send(0, 1, new byte[3]);
        assertThat(there.receive(1, 1, 3)).hasSize(3);
      }
    }
  }

  @Test
  void devicesWithAnotherKeyAreRefused() throws Exception {
    Credentials other = key("other.p12");
    ServerSocket first = free();
    ServerSocket second = free();
    CompletableFuture<SocketChannels> own =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(0, "p", first, second), first));
    ServerSocket third = free();
    assertThatThrownBy(() -> SocketChannels.connect(self(1, "p", 4, other, first, third), third))
        .isInstanceOf(Failure.class)
        .hasMessageContaining("its key differs from this device's");
    try (SocketChannels peer = SocketChannels.connect(self(1, "p", first, second), second);
        SocketChannels there = own.get()) {
      peer.send(0, 1, new byte[3]);
      assertThat(there.receive(1, 1, 3)).hasSize(3);
    }
  }

  @Test
  void keysAreReadableOnlyByTheirOwner() throws IOException {
    key("mine.p12");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(folder.resolve("mine.p12"))))
        .isEqualTo("rw-------");
  }

  /** Tests what each end reports when one of two devices got another key. */
  @Test
  void aMissingDeviceMayHaveAnotherKey() throws Exception {
    Credentials other = key("third.p12");
    ServerSocket first = free();
    ServerSocket second = free();
    CompletableFuture<SocketChannels> own =
        CompletableFuture.supplyAsync(
            () -> SocketChannels.connect(self(0, "p", 2, credentials, first, second), first));
    assertFails(
        () -> SocketChannels.connect(self(1, "p", 4, other, first, second), second),
        Reason.MISMATCH,
        0);
    assertThatThrownBy(own::get)
        .cause()
        .isInstanceOf(Failure.class)
        .hasMessageContaining("doesn't connect; a peer at 127.0.0.1 has another key");
  }

  /** The end that is refused always learns why, whichever end is faster. */
  @Test
  void refusalsArrive() throws Exception {
    verifyRefusals(20);
  }

  @Tag("thorough")
  @Test
  void manyRefusalsArrive() throws Exception {
    verifyRefusals(100);
  }

  private static void verifyRefusals(int count) throws Exception {
    Credentials other = key("fourth.p12");
    try (ServerSocket server = free()) {
      for (int i = 0; i < count; i++) {
        CompletableFuture<IOException> refused =
            CompletableFuture.supplyAsync(() -> failureOfHandshake(server));
        try (Socket caller = new Socket(server.getInetAddress(), server.getLocalPort())) {
          assertThatThrownBy(() -> other.secured(caller, true)).isInstanceOf(IOException.class);
        }
        assertThat(refused.get()).matches(Credentials::isOtherKey);
      }
    }
  }

  private static IOException failureOfHandshake(ServerSocket server) {
    try (Socket socket = server.accept()) {
      credentials.secured(socket, false).getInputStream().read();
      return null;
    } catch (IOException refused) {
      return refused;
    }
  }

  @Test
  void takenPort() throws IOException {
    try (ServerSocket taken = free()) {
      assertFails(() -> SocketChannels.listen(self(1, "p", taken, taken)), Reason.PORT, 1);
    }
  }

  @Test
  void invalidAddresses() {
    for (String text : List.of("", "a:1", "a:1,b", "a:1,:2", "a:1,b:0", "a:1,b:70000")) {
      assertFails(() -> SocketChannels.addresses(text, 2), Reason.PEERS, 0);
    }
    assertThat(SocketChannels.addresses("a:1, [::1]:2", 2))
        .containsExactly(
            InetSocketAddress.createUnresolved("a", 1),
            InetSocketAddress.createUnresolved("::1", 2));
  }
}
