package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeAll;
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
    try (ProgramCompiler compiler = new ProgramCompiler()) {
      EmittedJava program = JavaBackend.emit(PROGRAM, OPTIONS);
      DeviceHosting hosting = new DeviceHosting.Peers(peers, folder.resolve("key"));
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
