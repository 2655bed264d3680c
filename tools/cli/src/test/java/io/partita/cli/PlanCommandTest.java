package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests 'plan' on the bundled decoder and its errors. */
final class PlanCommandTest {
  private static final int MAX_PAGE_LENGTH = 45;

  private static final Map<String, Map<String, Object>> BEST = new HashMap<>();

  @TempDir Path scratch;

  private static Invocation plan(Object... options) {
    return Invocation.of(
        Stream.concat(
                Stream.of("plan", Invocation.DECODER, "--kv-capacity", "64"), Stream.of(options))
            .toArray());
  }

  private static Map<String, Object> json(Object... options) {
    Invocation plan = plan(Stream.concat(Stream.of(options), Stream.of("--json")).toArray());
    assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
    return plan.json();
  }

  /** The plan for the best number of chips, which several tests read. */
  private static Map<String, Object> best(String goal) {
    return BEST.computeIfAbsent(
        goal, any -> json("--target", "siracusa:chips=4", "--devices=auto", "--minimise", goal));
  }

  @SuppressWarnings("unchecked")
  private static List<Map<String, Object>> list(Map<String, Object> json, String key) {
    return (List<Map<String, Object>>) json.get(key);
  }

  private static double number(Map<String, Object> json, String key) {
    return ((Number) json.get(key)).doubleValue();
  }

  @Tag("thorough")
  @Test
  void pageIsDeterministicAndFitsAScreen() {
    Invocation plan = plan("--target", "siracusa:chips=2");
    assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
    assertThat(plan.err().lines()).as("progress, if it takes long").allMatch(l -> l.endsWith("…"));
    assertThat(plan.out().lines())
        .hasSizeLessThanOrEqualTo(MAX_PAGE_LENGTH)
        .allMatch(line -> line.length() <= PlanPage.WIDTH);
    assertThat(plan("--target", "siracusa:chips=2").out())
        .as("planned again")
        .isEqualTo(plan.out());
  }

  /** In the words of reports; chips whose cores share their memory have no such blocks. */
  @Tag("thorough")
  @Test
  void blocksOnCoresAreShown() {
    Invocation plan = plan("--target", "n150:chips=1");
    assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
    assertThat(plan.out())
        .contains("blocks on cores, in pages of 32 x 32")
        .containsPattern("loop +cores +result +block +depth +in registers +multicast")
        .containsPattern("gemv_f32_\\d+_\\d+ +1 x \\d+ +1 x \\d+ +1 x 1 +\\d+ +1 x 1 +left\n")
        .containsPattern("attention_f32_\\S+ +\\d+ x \\d+ ");
    Map<String, Object> loop =
        list(json("--target", "n150:chips=1"), "coreBlocks").stream()
            .filter(each -> each.get("name").toString().startsWith("rms_norm"))
            .findFirst()
            .orElseThrow();
    assertThat(loop.get("blocks").toString()).startsWith("{cores=[1, 1], pages=[1, ");
    assertThat(list(json("--target", "siracusa:chips=2"), "coreBlocks")).isEmpty();
  }

  /**
   * The figures of memories count the weights as compile stores them; {@code PlansTest} has those
   * of time, which doesn't change where weights stay in L1.
   */
  @Test
  void weightsOfCardsMayBeStoredInBlocks() {
    Map<String, Object> plain = json("--target=n150:chips=2");
    Map<String, Object> packed =
        json("--target=n150:chips=2", "--set=weights=bf8_b", "--set=release=0.81.1");
    for (int chip = 0; chip < 2; chip++) {
      double before = number(list(plain, "devices").get(chip), "weightBytes");
      // All but a few bytes are matrices and the table of tokens, which keeps its type.
      assertThat(number(list(packed, "devices").get(chip), "weightBytes"))
          .isBetween(before * 17 / 64, before / 2);
    }
    assertThat(((Map<?, ?>) packed.get("replication")).get("modelBytes").toString())
        .isNotEqualTo(((Map<?, ?>) plain.get("replication")).get("modelBytes").toString());
    assertThat(plan("--target=n150", "--set=weights=bf4_b").err()).contains("error P5206");
    assertThat(plan("--target=siracusa", "--set=weights=bf8_b").err())
        .contains("option --set", "weights=bf8_b");
  }

  /** {@code compile --plan} takes the same settings for the plan and for the kernels. */
  @Test
  void settingsOfCardsServePlansAndKernels() {
    String[] settings = {"--set=weights=bf8_b", "--set=grid=4x4"};
    List<Map<String, Object>> loops =
        list(json("--target=n150:chips=1", settings[0], settings[1]), "coreBlocks");
    assertThat(loops)
        .isNotEmpty()
        .extracting(loop -> ((Map<?, ?>) loop.get("blocks")).get("cores").toString())
        .allMatch(cores -> cores.matches("\\[([1-9]|1[0-6]), ([1-9]|1[0-6])]"));
    Invocation compile =
        Invocation.of(
            "compile",
            Invocation.DECODER,
            "--target=n150:chips=2",
            "--plan=n150:chips=2",
            settings[0],
            settings[1],
            "--kv-capacity=64",
            "-o",
            scratch.resolve("planned"));
    assertThat(compile.exitCode()).as(compile.err()).isEqualTo(ExitCode.DONE);
  }

  /** Its figures are those of closed formulas. */
  @Test
  void aProgramWithoutKernelHasNoBlocks(@TempDir Path scratch) throws IOException {
    Path module = scratch.resolve("inverse.pir");
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @inverse(%x: f64[2,3]) -> ("y": f64[2,3]) {
            %a = atanh(%x) : f64[2,3] "inverse"
            return %a
          }
        }
        """);
    Invocation plan = Invocation.of("plan", module, "--target", "n150:chips=1");
    assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
    assertThat(plan.out())
        .contains("latency    ")
        .contains("blocks     none: P4401 at node \"inverse\"");
  }

  /** As 'compile' refuses it: with a size that was tried, but no more than the card has. */
  @Test
  void tilesThatDontFitL1OfCardsAreRefused() {
    Invocation plan = plan("--target=n150:chips=1", "--set=l1=64KiB");
    assertThat(plan.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(plan.out()).contains("blocks     none: P4402 at ");
    assertThat(plan.err())
        .contains("error P4402", "at most 910 bytes of l1 on n150")
        .containsPattern(
            "fix: +--set l1=\\d+MiB \\(tried, it then fits\\); or use more devices, smaller"
                + " dimensions, or narrower elements\n");
    String size = plan.err().replaceAll("(?s).*--set (l1=\\d+MiB).*", "$1");
    assertThat(plan("--target=n150:chips=1", "--set=" + size).exitCode()).isEqualTo(ExitCode.DONE);
  }

  /** Registers hold 8 tiles of 16 bits: the part of a block is larger than with sums of f32. */
  @Test
  void sumsOfCardsMayBeOf16Bits(@TempDir Path scratch) throws IOException {
    Path module = scratch.resolve("product.pir");
    Files.writeString(
        module,
        """
        pir 1
        module {
          graph @product(%x: bf16[32,64], %w: bf16[64,640]) -> ("y": bf16[32,640]) {
            %y = linear(%x, %w) : bf16[32,640] "y"
            return %y
          }
        }
        """);
    for (String sums : List.of("f32", "bf16")) {
      Invocation plan =
          Invocation.of(
              "plan",
              module,
              "--target=n150:chips=1",
              "--json",
              "--set=grid=1x1",
              "--set=sums=" + sums);
      assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
      assertThat(plan.out().replaceAll("\\s", ""))
          .contains("\"subblock\":[1," + (sums.equals("f32") ? 4 : 8) + "]");
    }
    assertThat(plan("--target=n150", "--set=sums=f16").err()).contains("error P5209");
  }

  @Test
  void linesOfSyncsAreWholeAndAligned() {
    Invocation plan =
        Invocation.of(
            "plan",
            Invocation.SHAKESPEARE.resolve("prefill/network.onnx"),
            "--target=siracusa:chips=4",
            "--dim=seq=16",
            "--strategy=tensor=4,norm=tokens,vocabulary=replicated");
    List<String> lines = plan.out().lines().filter(line -> line.matches(" +[0-9]+ x .*")).toList();
    assertThat(lines)
        .hasSizeGreaterThan(1)
        .allMatch(line -> line.endsWith(" each"))
        .extracting(line -> line.lastIndexOf(" in "))
        .containsOnly(lines.getFirst().lastIndexOf(" in "));
  }

  @Tag("thorough")
  @Test
  void theFastestPlanWins() {
    theBestPlanWins(best("latency"), "seconds");
  }

  @Tag("thorough")
  @Test
  void thePlanOfTheLeastEnergyWins() {
    theBestPlanWins(best("energy"), "joules");
  }

  private static void theBestPlanWins(Map<String, Object> json, String figure) {
    List<Map<String, Object>> fitting =
        list(json, "tried").stream()
            .filter(attempt -> attempt.get("outcome").equals("fits"))
            .toList();
    assertThat(fitting).hasSizeGreaterThan(1);
    assertThat(fitting).allMatch(each -> number(each, figure) >= number(json, figure));
    assertThat(fitting).anyMatch(attempt -> attempt.get("strategy").equals(json.get("strategy")));
    assertThat(list(json, "tried"))
        .filteredOn(attempt -> !attempt.get("strategy").equals(json.get("strategy")))
        .allMatch(attempt -> !attempt.get("reason").toString().isEmpty());
  }

  @Test
  void theFrontIsUndominated() {
    Map<String, Object> json = best("latency");
    List<Map<String, Object>> front = list(json, "front");
    assertThat(front).isNotEmpty();
    for (Map<String, Object> one : front) {
      for (Map<String, Object> other : list(json, "tried")) {
        if (other.get("outcome").equals("fits")) {
          List<String> figures = List.of("seconds", "joules", "devices", "peakBytes");
          boolean noWorse =
              figures.stream().allMatch(key -> number(other, key) <= number(one, key));
          boolean same = figures.stream().allMatch(key -> number(other, key) == number(one, key));
          assertThat(noWorse && !same).isFalse();
        }
      }
    }
  }

  @Tag("thorough")
  @Test
  void devicesHoldTheModelOnceExceptListedParts() {
    Map<String, Object> json =
        json(
            "--target", "siracusa:chips=4", "--strategy=tensor=4,norm=everywhere,vocabulary=split");
    @SuppressWarnings("unchecked")
    Map<String, Object> replication = (Map<String, Object>) json.get("replication");
    double listed =
        list(replication, "causes").stream().mapToDouble(each -> number(each, "addedBytes")).sum();
    assertThat(number(replication, "deviceBytes"))
        .isEqualTo(number(replication, "modelBytes") + listed);
    assertThat(list(replication, "causes"))
        .extracting(cause -> cause.get("what"))
        .containsExactly("rotary_embedding", "rms_norm", "other constants");
  }

  @Tag("thorough")
  @Test
  void blocksHaveTwoSyncs() {
    Map<String, Object> json = json("--target", "siracusa:chips=4", "--strategy=tensor=4");
    assertThat(json).containsEntry("syncsPerBlock", 2).containsEntry("blocks", 4);
    assertThat(list(json, "syncs"))
        .isNotEmpty()
        .allMatch(sync -> !sync.get("algorithm").toString().isEmpty());
    double sent = list(json, "syncs").stream().mapToDouble(sync -> number(sync, "bytes")).sum();
    assertThat(sent).isPositive();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--target=siracus                                 | P3311 | siracusa",
        "--target=siracusa:chips=4 --devices=0            | P4301 | a number from 1 to 4096",
        "--target=siracusa:chips=4 --devices=some         | P4301 | a number from 1 to 4096",
        "--target=siracusa:chips=4 --devices=8            | P4301 | add --set chips=8",
        "--target=siracusa:chips=4 --devices=80           | P4301 | choose --devices 4, or fewer",
        "--target=wifi-laptops --strategy=tensors         | P4201 | name=value",
        "--target=siracusa:chips=8 --strategy=tensor=4 --devices=8 | P4302 | --devices 4",
        "--target=siracusa:chips=8 --strategy=sequence    | P4302 | a run has 1 token",
        "--target=siracusa:chips=8 --strategy=pipeline    | P4302 | the model has 4 blocks",
        "--target=siracusa --set=l3=much                  | P3310 | l3=128MiB",
        "--target=siracusa --set=overlap=off              | P3310 | such as 'partita compile'",
        "--target=siracusa --set=l9=1MiB                  | P3310 | one of chips",
      })
  void mistakes(String options, String code, String hint) {
    Invocation plan = plan((Object[]) options.split(" "));
    assertThat(plan.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(plan.out()).isEmpty();
    assertThat(plan.err()).contains("error " + code).contains(hint);
  }

  @Test
  void modelsWithoutBlocksUseOneDevice() throws IOException {
    Path model =
        Files.writeString(
            scratch.resolve("relu.pir"),
            """
            pir 1
            module {
              graph @relu(%x: f32[4]) -> ("y": f32[4]) {
                %0 = relu(%x) : f32[4]
                return %0
              }
            }
            """);
    Invocation plan = Invocation.of("plan", model, "--target=siracusa:chips=4");
    assertThat(plan.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(plan.err())
        .contains("error P4302")
        .contains("tensor=4: it splits nothing")
        .contains("pipeline=4: no transformer block was recognised");
    Invocation auto =
        Invocation.of("plan", model, "--target=siracusa:chips=4", "--devices=auto", "--json");
    assertThat(auto.json()).containsEntry("deviceCount", 1);
  }

  @Test
  void capacitiesNeedACache() {
    Invocation plan =
        Invocation.of("plan", "vit-base", "--layers=1", "--target=siracusa", "--kv-capacity=8");
    assertThat(plan.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(plan.err()).contains("error P6008").contains("leave --kv-capacity 8 out");
  }

  @Test
  void openDimensionsGetDefaults() {
    Invocation plan =
        Invocation.of(
            "plan",
            Invocation.SHAKESPEARE.resolve("prefill/network.onnx"),
            "--target=wifi-laptops:laptops=2",
            "--strategy=tensor=2,norm=root,vocabulary=replicated");
    assertThat(plan.exitCode()).as(plan.err()).isEqualTo(ExitCode.DONE);
    assertThat(plan.err()).contains("note P6018").contains("--dim seq=128");
  }
}
