package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compiling with speculation on attention, and refusals of what can't speculate. */
class SpeculateOptionsTest {
  private static final Path DECODE = Invocation.SHAKESPEARE.resolve("decode/network.onnx");
  private static final Path PREFILL = Invocation.SHAKESPEARE.resolve("prefill/network.onnx");

  @TempDir private Path folder;

  private Invocation compile(Path model, Object... more) {
    List<Object> all =
        new ArrayList<>(List.of("compile", model, "--target=java", "-o", folder.resolve("out")));
    all.addAll(List.of(more));
    return Invocation.of(all.toArray());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",guess=sent"})
  void rulesOfSyncsTakeASpeculation(String guess) {
    Invocation run =
        compile(
            DECODE,
            "--devices=2",
            "--kv-capacity=16",
            "--sync=attention: speculate(lambda=0.1,chunk=4" + guess + ")");
    assertThat(run.exitCode()).as(run.err()).isEqualTo(ExitCode.DONE);
    assertThat(folder.resolve("out/model.json")).content().contains("speculative");
  }

  /** The prediction for both outcomes is the same in a plan and of the compiled program. */
  @Test
  void bothOutcomesArePredicted() {
    bothOutcomesArePredicted(2);
  }

  @Tag("thorough")
  @Test
  void bothOutcomesArePredictedForGroupsOfTwo() {
    bothOutcomesArePredicted(4);
  }

  private void bothOutcomesArePredicted(int chips) {
    List<Object> options =
        List.of(
            DECODE,
            "--kv-capacity=32",
            "--devices=" + chips,
            "--speculate=lambda=0.2,chunk=4",
            "--json",
            "--target=siracusa:chips=" + chips);
    Invocation plan = Invocation.of(command("plan", options));
    assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
    double hits = number(plan.out(), "hitSeconds");
    double misses = number(plan.out(), "seconds");
    assertThat(hits).isLessThan(misses);
    Invocation compiled = Invocation.of(command("compile", options, "-o", folder.resolve("chips")));
    assertThat(compiled.exitCode()).as(compiled.err()).isEqualTo(ExitCode.DONE);
    assertThat(number(compiled.out(), "missSeconds")).isCloseTo(misses, within(1e-9));
    assertThat(number(compiled.out(), "hitSeconds")).isCloseTo(hits, within(1e-9));
    assertThat(folder.resolve("chips/report.json")).content().contains("\"hitSeconds\"");
    List<Object> text = options.stream().filter(each -> !each.equals("--json")).toList();
    assertThat(Invocation.of(command("plan", text)).out())
        .contains("speculates lambda=0.2, chunk=4")
        .containsPattern("predicted latency: .* if every attention hits, .* if every one misses");
  }

  private static Object[] command(String name, List<Object> options, Object... more) {
    List<Object> all = new ArrayList<>(List.of(name));
    all.addAll(options);
    all.addAll(List.of(more));
    return all.toArray();
  }

  private static double number(String json, String field) {
    Matcher found = Pattern.compile('"' + field + "\" *: *([0-9.eE+-]+)").matcher(json);
    assertThat(found.find()).as(field + " in " + json).isTrue();
    return Double.parseDouble(found.group(1));
  }

  @Test
  void plansRefuseOddNumbersOfDevices() {
    Invocation plan =
        Invocation.of(
            "plan",
            DECODE,
            "--kv-capacity=32",
            "--target=siracusa:chips=3",
            "--speculate=lambda=0.2,chunk=4");
    assertThat(plan.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(plan.err()).contains("P4244", "write --devices 2 or --devices 4");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "lambda=0.1,chunk=4  | --devices=3 | P4244 | write --devices 2 or --devices 4, in passes devices=2 or devices=4",
        "lambda=0.1,chunk=4  | --kv-capacity=16 | P4244 | add --devices 2",
        "lambda=-1,chunk=4   | --devices=2 | P4241 | a number of 0 or more",
        "lambda=0.1,chunk=4,guess=late | --devices=2 | P4241 | computed or sent",
        "lambda=0.1,chunk=9  | --devices=2 | P4242 | choose chunk=8 or less",
        "lambda=0.1,chunk=4  | --strategy=pipeline=2 | P4244 | leave --strategy out",
        "lambda=0.1,chunk=4  | --plan=siracusa:chips=2 | --speculate takes | without --plan",
      })
  void impossibleSpeculationIsRefused(String options, String other, String code, String remedy) {
    Invocation run = compile(DECODE, "--kv-capacity=16", "--speculate=" + options, other);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains(code, remedy);
  }

  @Test
  void modelsWithoutCacheAreRefused() {
    Invocation run =
        compile(PREFILL, "--dim=seq=16", "--devices=2", "--speculate=lambda=0.1,chunk=4");
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("P4243");
  }
}
