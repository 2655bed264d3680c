package io.partita.runtime;

import io.partita.ir.schedule.kernel.Kernel;
import io.partita.ir.schedule.kernel.KernelTable;
import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The kernels, compiled for this machine, optimised, contracted and with the address and
 * undefined-behaviour sanitizers, and for a device where QEMU can run it.
 */
final class Kernels implements AutoCloseable {
  private static final double NEAR = 1e-4;

  /** The limit beyond which one of both may be infinite. */
  private static final double LARGE = 3.4e38;

  private final KernelHeaders headers = KernelHeaders.read();
  private final KernelServer optimised;
  private final KernelServer contracted;
  private final KernelServer sanitised;
  private final Optional<KernelServer> device;

  Kernels(CCompiler compiler, Optional<Qemu> qemu) {
    List<Path> sources = new ArrayList<>(CCompiler.sources("kernels"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/kernel_server.c"));
    // The server finds kernels by name in the program itself.
    optimised = server(compiler, CCompiler.Build.OPTIMISED, sources);
    contracted = server(compiler, CCompiler.Build.CONTRACTED, sources);
    sanitised = server(compiler, CCompiler.Build.SANITISED, sources);
    device = qemu.map(KernelDevice::start);
  }

  private static KernelServer server(
      CCompiler compiler, CCompiler.Build build, List<Path> sources) {
    Path program = compiler.executable("kernels", build, sources, "-rdynamic", "-ldl");
    Path messages = program.resolveSibling("kernels.log");
    ProcessBuilder server = new ProcessBuilder(program.toString()).redirectError(messages.toFile());
    return new KernelServer(server, messages, Long.BYTES);
  }

  /**
   * Returns the results of a call, which must not depend on builds, machines, numbers and order of
   * cores. The schedule evaluator has the same bits if the kernel is exact, and otherwise nearly
   * equal ones.
   */
  List<Tensor> run(KernelCall call) {
    List<Tensor> alone = call.results(optimised.reply(call, 1, false));
    verifySame(call + " on 8 cores", alone, call.results(optimised.reply(call, 8, false)));
    verifySame(call + " sanitised", alone, call.results(sanitised.reply(call, 3, true)));
    device.ifPresent(
        rv32 -> verifySame(call + " on rv32", alone, call.results(rv32.reply(call, 8, false))));
    Kernel meaning =
        KernelTable.find(call.kernel().substring(Kernel.PREFIX.length())).orElseThrow();
    List<Tensor> evaluated = call.evaluated(meaning, headers.fields(meaning.struct().tag()));
    for (int i = 0; i < alone.size(); i++) {
      if (meaning.exact()) {
        Same.verify(call + " evaluated", evaluated.get(i), alone.get(i));
      } else {
        verifyNear(call + " evaluated", alone.get(i), evaluated.get(i));
      }
    }
    return alone;
  }

  /** Other tests compare kernels with exact results. */
  private static void verifyNear(String what, Tensor expected, Tensor found) {
    for (int i = 0; i < expected.size(); i++) {
      double one = expected.getDouble(i);
      double other = found.getDouble(i);
      boolean isNear =
          Double.compare(one, other) == 0
              || Math.abs(one - other) <= NEAR * (1 + Math.abs(one))
              || Math.abs(other) >= LARGE && Math.abs(one) >= LARGE && one * other > 0;
      if (!isNear) {
        throw new AssertionError(what + ": element " + i + " is " + other + " and not " + one);
      }
    }
  }

  private static void verifySame(String what, List<Tensor> expected, List<Tensor> found) {
    for (int i = 0; i < expected.size(); i++) {
      Same.verify(what, found.get(i), expected.get(i));
    }
  }

  Tensor result(KernelCall call) {
    return run(call).getFirst();
  }

  /** Returns the results of a call with contracted products and sums. */
  List<Tensor> contracted(KernelCall call) {
    return call.results(contracted.reply(call, 8, false));
  }

  @Override
  public void close() {
    optimised.close();
    contracted.close();
    sanitised.close();
    device.ifPresent(KernelServer::close);
  }
}
