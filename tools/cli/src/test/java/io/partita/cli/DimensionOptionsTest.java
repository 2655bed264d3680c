package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests which dimensions of a decoder must, may and can't be given. */
class DimensionOptionsTest {
  private static final Path FIXTURES = Invocation.ROOT.resolve("tests/fixtures");

  /** A decoder with the dimensions batch, past and total. */
  private static final Path GPT2 = FIXTURES.resolve("gpt2/ts_sdpa_kv/network.onnx");

  @TempDir Path scratch;

  private Invocation compile(Path model, String... options) {
    List<Object> arguments =
        new ArrayList<>(
            List.of("compile", model, "--target", "java", "-o", scratch.resolve("out")));
    arguments.addAll(List.of(options));
    return Invocation.of(arguments.toArray());
  }

  private static String lastLine(Invocation compile) {
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
    return compile.out().lines().toList().getLast();
  }

  /** Returns the size of two layers of keys and values with 4 heads of 6 features, in f32. */
  private static String state(int positions) {
    return "a state of %,d bytes".formatted(positions * 2 * 2 * 4 * 6 * 4);
  }

  @Test
  void inspectNeedsNoOptions() {
    Invocation inspect = Invocation.of("inspect", GPT2);
    assertThat(inspect.exitCode()).isEqualTo(ExitCode.DONE);
    assertThat(inspect.out()).contains("dimension  total = past+1 (required by ");
    assertThat(Invocation.of("inspect", GPT2, "--json").json().get("derivedDimensions").toString())
        .contains("name=total", "extent=past+1");
  }

  /** Its table of positions has 32 rows. */
  @Test
  void decodersCompileWithoutOptions() {
    Invocation compile = compile(GPT2);
    assertThat(lastLine(compile)).endsWith(state(32));
    assertThat(compile.err()).contains("note P6013", "note P6020", "note P6014");
  }

  /** Positions depend only on the length. */
  @Test
  void tablesOfPositionsLimitSequences() {
    Path gpt2 = FIXTURES.resolve("gpt2/ts_sdpa_dynamic/network.onnx");
    assertThat(compile(gpt2).err()).contains("it becomes 32, the most that the model takes");
    String refused =
        """
        error P3202: an index is out of range
          where:     node "/model/transformer/wpe/Gather"
          expected:  an index below 32
          found:     32
          fix:       choose --dim seq=32
        """;
    assertThat(compile(gpt2, "--dim", "seq=40", "--dim", "batch=2").err()).contains(refused);
    assertThat(Invocation.of("inspect", gpt2, "--dim", "seq=40").err()).contains(refused);
  }

  @Test
  void theCapacityHasSeveralNames() {
    assertThat(lastLine(compile(GPT2, "--kv-capacity", "32"))).endsWith(state(32));
    assertThat(lastLine(compile(GPT2, "--dim", "past=32"))).endsWith(state(32));
    assertThat(lastLine(compile(GPT2, "--dim", "total=33"))).endsWith(state(32));
    assertThat(lastLine(compile(GPT2, "--dim", "total=33", "--dim", "past=32")))
        .endsWith(state(32));
    String passes = "simplify,raise,simplify,kv-state(capacity=32)";
    assertThat(lastLine(compile(GPT2, "--dim", "past=32", "--passes", passes))).endsWith(state(32));
  }

  @Test
  void conflictingCapacitiesAreRefused() {
    assertThat(compile(GPT2, "--dim", "total=34", "--dim", "past=32").err())
        .contains(
            """
            error P6019: dimensions contradict each other
              where:     --dim total=34
              expected:  32 positions in the KV cache, as --dim past=32 says
              found:     33 positions
              fix:       leave --dim total=34 out
            """);
    assertThat(compile(GPT2, "--kv-capacity", "16", "--dim", "past=32").err()).contains("P6019");
    String passes = "simplify,raise,simplify,kv-state(capacity=16)";
    assertThat(compile(GPT2, "--dim", "past=32", "--passes", passes).err())
        .contains("P6019", "choose kv-state(capacity=32)");
  }

  /** BERT's table of positions has 32 rows. */
  @Test
  void sequencesHaveTheLengthOfThePositions() {
    Path bert = FIXTURES.resolve("bert/ts_sdpa_dynamic/network.onnx");
    Invocation compile = compile(bert);
    assertThat(lastLine(compile)).contains("a function, run(…)");
    assertThat(compile.err())
        .contains(
            """
            note P6018: a dimension is not given
              where:     dimension seq
              found:     no --dim; it becomes 32, the most that the model takes
              fix:       choose it with --dim seq=32
            """);
  }
}
