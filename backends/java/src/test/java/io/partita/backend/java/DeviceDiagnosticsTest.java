package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.Set;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceDiagnosticsTest {
  private static final JavaOptions OPTIONS = new JavaOptions("emitted", "Model");
  private static final Program PROGRAM = DeviceGoldenTest.program(2, new Algorithm.Direct());

  private static void assertFails(ThrowingCallable call, String text) {
    assertThatThrownBy(call).isInstanceOf(PartitaException.class).hasMessage(text.stripTrailing());
  }

  @TempDir static Path folder;

  @BeforeAll
  static void makeKey() throws IOException {
    DeviceKey.make(folder.resolve("key"));
  }

  private static void connect(String peers) {
    connect(peers, folder.resolve("key"));
  }

  private static void connect(String peers, Path key) {
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      EmittedJava program = JavaBackend.emit(PROGRAM, OPTIONS);
      DeviceHosting hosting = new DeviceHosting.Peers(peers, key);
      ProgramRunner.load(compiler, program, hosting).close();
    }
  }

  @Test
  void takenPort() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String own = "127.0.0.1:" + taken.getLocalPort();
      assertFails(
          () -> connect(own + ",127.0.0.1:1"),
          """
          error P5013: a device can't listen at its address
            where:     device 0
            expected:  an address of this computer with a free port
            found:     %s: Address already in use
            fix:       choose another port in --peers, the same on all devices
          """
              .formatted(own));
    }
  }

  @Test
  void tooFewAddresses() {
    assertFails(
        () -> connect("127.0.0.1:7000"),
        """
        error P5015: the list of device addresses is invalid
          where:     --peers
          expected:  host:port for each device, in their order, separated by commas
          found:     1 addresses for 2 devices: 127.0.0.1:7000
          fix:       give as many addresses as the program has devices
        """);
  }

  private static void assertUnusable(Path key, String found) {
    assertFails(
        () -> connect("127.0.0.1:1,127.0.0.1:2", key),
        """
        error P5017: the key of the devices can't be used
          where:     --key
          expected:  the key that 'partita key' made for all devices
          found:     %s: %s
          fix:       copy the key of the other devices, or make one with 'partita key FILE' for all
        """
            .formatted(key, found));
  }

  private static Path store(String name, String password, boolean withKey) throws Exception {
    KeyStore made = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(folder.resolve("key"))) {
      made.load(in, "partita".toCharArray());
    }
    KeyStore other = KeyStore.getInstance("PKCS12");
    other.load(null, null);
    String alias = made.aliases().nextElement();
    if (withKey) {
      Key key = made.getKey(alias, "partita".toCharArray());
      Certificate[] chain = made.getCertificateChain(alias);
      other.setKeyEntry(alias, key, password.toCharArray(), chain);
    } else {
      other.setCertificateEntry(alias, made.getCertificate(alias));
    }
    Path file = folder.resolve(name);
    try (OutputStream out = Files.newOutputStream(file)) {
      other.store(out, password.toCharArray());
    }
    return file;
  }

  @Tag("thorough")
  @Test
  void filesThatAreNoKey() throws Exception {
    assertUnusable(folder.resolve("none.p12"), "no such file");
    assertUnusable(folder, "not a file");
    Path text = Files.writeString(folder.resolve("text.p12"), "{}");
    assertUnusable(text, "not a PKCS #12 file, or a damaged one");
    Path empty = Files.createFile(folder.resolve("empty.p12"));
    assertUnusable(empty, "not a PKCS #12 file, or a damaged one");
    byte[] key = Files.readAllBytes(folder.resolve("key"));
    Path cut = Files.write(folder.resolve("cut.p12"), Arrays.copyOf(key, key.length / 2));
    assertUnusable(cut, "not a PKCS #12 file, or a damaged one");
    assertUnusable(store("secret.p12", "secret", true), "a key with another password");
    assertUnusable(store("trusted.p12", "partita", false), "certificates without a key");
  }

  @Test
  void keysOfOtherUsers() throws IOException {
    Path mine = Files.copy(folder.resolve("key"), folder.resolve("mine.p12"));
    Files.setPosixFilePermissions(mine, Set.of());
    assumeThat(Files.isReadable(mine)).as("root reads all files").isFalse();
    assertUnusable(mine, "no permission to read it");
  }

  @Test
  void partialSumAsOutput() {
    ShardedType y = PROGRAM.outputs().get("y");
    Layout partial = y.layout().withPartial("chip", ReductionKind.SUM);
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    outputs.put("y", new ShardedType(y.type(), partial));
    Program program = new Program(PROGRAM.mesh(), PROGRAM.devices(), PROGRAM.inputs(), outputs);
    assertFails(
        () -> JavaBackend.emit(program, OPTIONS),
        """
        error P5016: an input or output is a partial result
          where:     output "y"
          expected:  a value that is whole or split on the devices
          found:     f32[2,4] partial(sum: chip)
          fix:       add a sync that reduces it
        """);
  }
}
