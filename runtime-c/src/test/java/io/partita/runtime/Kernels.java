package io.partita.runtime;

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
   * What the call writes, for which builds, machines, numbers of cores and their order must not
   * matter.
   */
  List<Tensor> run(KernelCall call) {
    List<Tensor> alone = call.results(optimised.reply(call, 1, false));
    verifySame(call + " on 8 cores", alone, call.results(optimised.reply(call, 8, false)));
    verifySame(call + " sanitised", alone, call.results(sanitised.reply(call, 3, true)));
    device.ifPresent(
        rv32 -> verifySame(call + " on rv32", alone, call.results(rv32.reply(call, 8, false))));
    return alone;
  }

  private static void verifySame(String what, List<Tensor> expected, List<Tensor> found) {
    for (int i = 0; i < expected.size(); i++) {
      Same.verify(what, found.get(i), expected.get(i));
    }
  }

  Tensor result(KernelCall call) {
    return run(call).getFirst();
  }

  /** What the call writes when products and sums are contracted. */
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
