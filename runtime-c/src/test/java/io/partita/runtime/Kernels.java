package io.partita.runtime;

import io.partita.ir.tensor.Tensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The kernels, compiled twice: optimised, and with the address and undefined-behaviour sanitizers.
 */
final class Kernels implements AutoCloseable {
  private final KernelServer optimised;
  private final KernelServer contracted;
  private final KernelServer sanitised;

  Kernels(CCompiler compiler) {
    List<Path> sources = new ArrayList<>(CCompiler.sources("kernels"));
    sources.add(CCompiler.MODULE.resolve("src/test/c/kernel_server.c"));
    // The server finds kernels by name in the program itself.
    optimised = server(compiler, CCompiler.Build.OPTIMISED, sources);
    contracted = server(compiler, CCompiler.Build.CONTRACTED, sources);
    sanitised = server(compiler, CCompiler.Build.SANITISED, sources);
  }

  private static KernelServer server(
      CCompiler compiler, CCompiler.Build build, List<Path> sources) {
    return new KernelServer(compiler.executable("kernels", build, sources, "-rdynamic", "-ldl"));
  }

  /** What the call writes, for which builds, numbers of cores and their order must not matter. */
  List<Tensor> run(KernelCall call) {
    List<Tensor> alone = call.results(optimised.reply(call, 1, false));
    verifySame(call + " on 8 cores", alone, call.results(optimised.reply(call, 8, false)));
    verifySame(call + " sanitised", alone, call.results(sanitised.reply(call, 3, true)));
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
  }
}
