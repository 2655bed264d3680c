package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.probe.Finding;
import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.file.OutputFolder;
import io.partita.ir.graph.Value;
import io.partita.ir.program.Program;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.passes.program.localize.Localization;
import io.partita.passes.program.localize.Localize;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs are compared with the reference, launch by launch. */
class KernelComparisonTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir Path folder;

  private List<Tensor> emit(String text) {
    Program program = Localization.of(PirParser.parse(text), Localize.CAPACITY);
    EmittedMetalium emitted =
        new MetaliumBackend(TargetLibrary.find("n150:chips=2")).emit(program, Optional.empty());
    OutputFolder.write(emitted.files(), folder, path -> false);
    Random random = new Random(2);
    return PirParser.parse(text).graph().inputs().stream()
        .map(Value::type)
        .map(
            type ->
                Tensor.ofDoubles(type, random.doubles(type.shape().elements(), -1, 1).toArray()))
        .toList();
  }

  private ProbeComparison.Result compare(List<Tensor> inputs) {
    return compare(EmulatedProgram.build(folder, MetaliumDescription.read(folder).whole()), inputs);
  }

  private static ProbeComparison.Result compare(EmulatedProgram program, List<Tensor> inputs) {
    return new KernelComparison(program, LIMIT, program.tolerance()).run(inputs);
  }

  /** Changes the kernels that have a text. */
  private void change(String text, String other) throws IOException {
    int changed = 0;
    try (DirectoryStream<Path> kernels = Files.newDirectoryStream(folder.resolve("kernels"))) {
      for (Path kernel : kernels) {
        String before = Files.readString(kernel);
        if (before.contains(text)) {
          Files.writeString(kernel, before.replace(text, other));
          changed++;
        }
      }
    }
    assertThat(changed).isPositive();
  }

  private static String layer() {
    StringBuilder weight = new StringBuilder("[0.5");
    for (int i = 1; i < 64 * 64; i++) {
      weight.append(", ").append(i * 37 % 101 / 200f - 0.25f);
    }
    return """
    pir 1
    module {
      mesh(x=2)
      graph @layer(%a: f32[3,64{x}]) -> ("y": f32[3,64]) {
        %w = constant WEIGHT : f32[64,64]
        %0 = sync(%a) {kind = "all_gather(x)", to = "[*,*]", algorithm = "direct"} : f32[3,64] "gather"
        %1 = linear(%0, %w) : f32[3,64] "product"
        %2 = silu(%1) : f32[3,64] "silu"
        %3 = softmax(%2) {axis = 1} : f32[3,64] "softmax"
        return %3
      }
    }
    """
        .replace("WEIGHT", weight.append("]"));
  }

  @Test
  @Tag("thorough")
  void launchesThatComputeSomethingElseAreNamed() throws IOException {
    List<Tensor> inputs = emit(layer());
    ProbeComparison.Result right = compare(inputs);
    assertThat(right.finding()).isEmpty();
    assertThat(right.chips()).isEqualTo(2);
    int last = right.steps() - 1;
    assertThat(last).isGreaterThan(1);
    assertThat(right.largest()).isBetween(0.0, 0x1p-8);

    change("exp_tile(0);", "exp_tile(0);\n            exp_tile(0);");
    Finding softmax = compare(inputs).finding().orElseThrow();
    assertThat(softmax.kind()).isEqualTo(Finding.Kind.DIVERGES);
    assertThat(softmax.step()).isEqualTo(last);
    assertThat(softmax.origin().text()).contains("softmax");

    // The first launch that differs is reported, not those that read its result.
    change("silu_tile(i);", "silu_tile(i);\n    silu_tile(i);");
    Finding product = compare(inputs).finding().orElseThrow();
    assertThat(product.step()).isBetween(1, last - 1);
    assertThat(product.origin().text()).contains("silu");

    change("inbox.get_noc_addr(inbox_page)", "inbox.get_noc_addr(0 * inbox_page + 1000)");
    Finding stopped = compare(inputs).finding().orElseThrow();
    assertThat(stopped.kind()).isEqualTo(Finding.Kind.STOPS);
    assertThat(stopped.step()).isLessThan(product.step());
  }

  /** Objects are as new as the headers that they include. */
  @Test
  @Tag("thorough")
  void changedHeadersAreCompiledAgain() throws IOException {
    emit(layer());
    ProgramInterface whole = MetaliumDescription.read(folder).whole();
    EmulatedProgram.build(folder, whole);
    Path header = folder.resolve("metalium-host/api/dataflow/dataflow_api.h");
    Files.writeString(header, Files.readString(header) + "#error changed\n");
    assertThatThrownBy(() -> EmulatedProgram.build(folder, whole))
        .hasMessageContaining("error P5103")
        .hasMessageContaining("#error changed");
  }

  /** References are read first, so nothing is built. */
  @Test
  void foldersWithoutReferenceAreReported() throws IOException {
    List<Tensor> inputs = emit(layer());
    Files.delete(folder.resolve("reference/chip1.json"));
    EmulatedProgram program = new EmulatedProgram(folder, MetaliumDescription.read(folder).whole());
    assertThatThrownBy(() -> compare(program, inputs))
        .hasMessageContaining("error P5106")
        .hasMessageContaining("chip1.json");
  }
}
