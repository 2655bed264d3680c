package io.partita.tests.recorded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.partita.backend.siracusa.ModelDescription;
import io.partita.backend.siracusa.run.BatchProgram;
import io.partita.backend.siracusa.run.Build;
import io.partita.backend.siracusa.run.Port;
import io.partita.driver.Distribution;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Shape;
import io.partita.passes.shard.ShardPass;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A trained character-level Llama in C on simulated Siracusa chips: after each character of the
 * recorded text, the likeliest is the next one.
 */
@Timeout(1200)
class SimulatedTextTest {
  private static final int CONTEXT = 256;

  @TempDir private Path folder;

  @BeforeAll
  static void requireGvsoc() {
    boolean isThere = gvsoc().isPresent() && Build.find("riscv64-unknown-elf-gcc").isPresent();
    if (!isThere) {
      System.err.println(
          "NO GVSOC OR RISC-V COMPILER: emitted C is NOT TESTED on Siracusa; build"
              + " https://github.com/gvsoc/gvsoc with TARGETS=siracusa and name where it's"
              + " installed: -Dpartita.gvsoc=PATH (targets/gvsoc/README.md)");
    }
    assumeThat(isThere).as("GVSoC and a compiler for Siracusa").isTrue();
  }

  /** Where it's installed. */
  private static Optional<Path> gvsoc() {
    return Optional.ofNullable(System.getProperty("partita.gvsoc"))
        .map(Path::of)
        .or(() -> Build.find("gvsoc").map(found -> found.resolve("../..").normalize()));
  }

  @ParameterizedTest(name = "{1} characters on {0} chips")
  @CsvSource({"1, 40", "2, 40", "8, 24"})
  void chipsExpectTheGreedyText(int chips, int characters) throws IOException {
    TrainedModel model = new TrainedModel(Path.of("../models/tiny-shakespeare"));
    long[] text = model.array("greedy.npz", "tokens").longs();
    int prompt = model.array("greedy.npz", "prompt").size();
    emit(CachedDecoder.withCaches(model.network("decode"), CONTEXT), chips);
    Build.run(folder, Port.GVSOC, List.of());
    List<ModelDescription.WholePort> ports = ModelDescription.read(folder).inputs();
    List<List<Tensor>> inputs = new ArrayList<>();
    for (int i = 0; i + 1 < characters; i++) {
      Map<String, Tensor> given =
          Map.of(
              "input_ids",
              Tensor.longs(Shape.of(1, 1), text[i]),
              "position",
              Tensor.longs(Shape.of(1), i));
      inputs.add(ports.stream().map(port -> given.get(port.name())).toList());
    }
    BatchProgram.Result result =
        new BatchProgram(folder, Port.GVSOC, Duration.ofMinutes(15))
            .run(inputs, List.of("--gvsoc", gvsoc().orElseThrow().toString()));
    for (int i = prompt; i < characters; i++) {
      Tensor logits = result.outputs().get(i - 1).getFirst();
      assertThat(best(logits)).as("character %d", i).isEqualTo(text[i]);
    }
  }

  private void emit(Module module, int chips) throws IOException {
    Module distributed =
        Distribution.strategy(chips, null)
            .map(chosen -> new ShardPass(chosen).run(module))
            .orElse(module);
    OutputFolder.write(
        ChipTarget.of("siracusa", Map.of()).emit(Distribution.program(distributed)).files(),
        folder,
        path -> false);
  }

  private static long best(Tensor logits) {
    return IntStream.range(0, logits.size())
        .reduce(0, (a, b) -> logits.getDouble(b) > logits.getDouble(a) ? b : a);
  }
}
