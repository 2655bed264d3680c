package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.file.OutputFolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a model that doesn't fit is refused with its needs, the limit, its largest parts and
 * remedies, leaves no folder, and compiles with the first remedy.
 */
@Timeout(300)
class DoesNotFitTest {
  @TempDir Path scratch;

  private Invocation compile(Path model, String... options) {
    return Invocation.of(
        Stream.concat(
                Stream.of(
                    "compile", model, "--target=siracusa:chips=8", "-o", scratch.resolve("c")),
                Arrays.stream(options))
            .toArray());
  }

  private Invocation refused(Path model, String... options) {
    Invocation compile = compile(model, options);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(compile.out()).isEmpty();
    assertThat(scratch.resolve("c")).doesNotExist();
    return compile;
  }

  /** The folder is created and deleted. */
  private void fits(Path model, String... options) throws IOException {
    Invocation compile = compile(model, options);
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    OutputFolder.delete(scratch.resolve("c"));
  }

  @Tag("thorough")
  @Test
  void theWorkingMemory() throws IOException {
    assertThat(refused(Invocation.DECODER, "--dim=past=256", "--set=l1=300").err())
        .contains(
            "error P4402: the smallest tiles of a loop don't fit the working memory",
            "  where:     attention \"/layers.0/self_attn/MatMul_1\"",
            "  expected:  at most 300 bytes of l1 on siracusa",
            "  found:     624 bytes for the smallest tiles of attention_f32: q 32, k 256, v 256,"
                + " out 32, largest 8, weights 8, sums 32",
            "  fix:       --set l1=1KiB (tried, it then fits); or use more devices, ");
    fits(Invocation.DECODER, "--dim=past=256", "--set=l1=1KiB");
  }

  @Test
  void theMemoryOnTheChip() throws IOException {
    assertThat(refused(Invocation.DECODER, "--dim=past=256", "--set=l2=180KiB").err())
        .contains(
            "error P4403: a program doesn't fit the home memory",
            "  where:     device 0 (siracusa), memory l2",
            "  expected:  at most 53,248 B (184,320 B minus the space for code, ")
        .containsPattern(
            "found: +6\\d,\\d{3} B(, 6\\d,\\d{3} B live at once)?: activations [0-9,]+ B, states"
                + " 65,536 B, weights [0-9,]+ B; the largest are past_key_\\d 32,768 B,"
                + " past_value_\\d 32,768 B, ")
        .contains("  fix:       --set l2=360KiB (tried, it then fits); or ");
    fits(Invocation.DECODER, "--dim=past=256", "--set=l2=360KiB");
  }

  @Tag("exhaustive")
  @Test
  void theMemoryBeyondTheChip() throws IOException {
    Path model = scratch.resolve("encoder.onnx");
    Invocation zoo =
        Invocation.of("zoo", "mobilebert", "--layers=1", "--seq=8", "--mode=prompt", "-o", model);
    assertThat(zoo.exitCode()).as(zoo.err()).isEqualTo(ExitCode.DONE);
    assertThat(refused(model, "--set=l3=2MiB").err())
        .contains(
            "error P4404: weights and states don't fit the memory outside the chip",
            "  where:     device 0 (siracusa), memory l3",
            "  expected:  at most 2,097,152 B\n",
            "  found:     68,800,512 B: weights 68,800,512 B; the largest are"
                + " bert.embeddings.word_embeddings.weight 62,509,056 B, ",
            "  fix:       --set l3=128MiB (tried, it then fits); or use more devices, ");
    fits(model, "--set=l3=128MiB");
  }

  @Test
  void operationWithoutKernel() throws IOException {
    Path module = scratch.resolve("inverse.pir");
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @inverse(%x: f64[2,3]) -> ("y": f64[2,3]) {
            %a = atanh(%x) : f64[2,3] "/first"
            %b = atanh(%a) : f64[2,3] "/second"
            return %b
          }
        }
        """);
    assertThat(refused(module).err())
        .contains(
            "error P4401: there is no kernel for an operation",
            "  where:     node \"/first\", \"/second\"",
            "  found:     atanh of f64[2,3] that gives f64[2,3]",
            "the Java backend supports all operations");
  }
}
