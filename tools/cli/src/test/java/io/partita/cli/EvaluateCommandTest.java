package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import io.partita.driver.OutputFile;
import io.partita.driver.npz.Npz;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class EvaluateCommandTest {
  private static final Path PREFILL =
      Invocation.SHAKESPEARE.resolve("prefill").resolve("network.onnx");
  private static final int SAMPLES = 3;
  private static final int LENGTH = 13;

  @TempDir Path folder;
  private Path data;

  @BeforeEach
  void text() {
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    long[] ids = new long[SAMPLES * LENGTH];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = (i * 7L + 3) % 65;
    }
    arrays.put("validation", Tensor.longs(Shape.of(SAMPLES, LENGTH), ids));
    arrays.put("unknown", Tensor.longs(Shape.of(1, 3), 1, 65, 2));
    arrays.put("single", Tensor.longs(Shape.of(4, 1), 1, 2, 3, 4));
    arrays.put("small", Tensor.longs(Shape.of(1, 5), 3, 1, 2, 0, 3));
    arrays.put("none", Tensor.longs(Shape.of(0, 5)));
    arrays.put("fractions", Tensor.floats(Shape.of(1, 2), 0.5f, 1.5f));
    data = folder.resolve("data.npz");
    OutputFile.write(data, out -> Npz.write(arrays, out));
  }

  private Map<String, Object> measured(Path model, Object... more) {
    Object[] arguments = new Object[more.length + 5];
    arguments[0] = "evaluate";
    arguments[1] = model;
    arguments[2] = "--data";
    arguments[3] = data;
    arguments[4] = "--json";
    System.arraycopy(more, 0, arguments, 5, more.length);
    Invocation run = Invocation.of(arguments);
    assertThat(run.exitCode()).as(run.err() + run.out()).isZero();
    return run.json();
  }

  private static double number(Map<String, Object> report, String key) {
    return ((Number) report.get(key)).doubleValue();
  }

  /** Tests two different exports of one model. */
  @Test
  void decoderAndWholeSequenceHaveEqualPerplexity() {
    Map<String, Object> whole = measured(PREFILL);
    Map<String, Object> decoder = measured(Invocation.DECODER);
    assertThat(whole)
        .containsEntry("metric", "perplexity")
        .containsEntry("unit", "tokens")
        .containsEntry("devices", 1)
        .containsEntry("bytesPerToken", 0.0)
        .doesNotContainKey("bitsPerValue");
    assertThat(number(whole, "count")).isEqualTo(SAMPLES * (LENGTH - 1));
    assertThat(number(whole, "value")).isEqualTo(Math.exp(number(whole, "mean")), offset(1e-9));
    assertThat(number(decoder, "count")).isEqualTo(number(whole, "count"));
    assertThat(number(decoder, "mean")).isEqualTo(number(whole, "mean"), offset(1e-5));
  }

  /** Tests windows shorter than a sequence, which have less context. */
  @Test
  void sequencesAreCutIntoWindows() {
    Map<String, Object> whole = measured(PREFILL, "--samples=1");
    Map<String, Object> windows = measured(PREFILL, "--dim=seq=5");
    assertThat(number(whole, "count")).isEqualTo(LENGTH - 1);
    assertThat(number(windows, "count")).isEqualTo(SAMPLES * (LENGTH - 1));
    assertThat(number(windows, "mean")).isPositive();
  }

  @Tag("thorough")
  @Test
  void devicesAgreeAndMessagesAreCounted() {
    Map<String, Object> one = measured(PREFILL, "--threads=1");
    Map<String, Object> exact = measured(PREFILL, "--devices=4");
    Map<String, Object> rounded =
        measured(PREFILL, "--passes=simplify,raise,simplify,shard(tensor=4),sync-codec(bf16)");
    assertThat(number(exact, "mean")).isEqualTo(number(one, "mean"), offset(1e-5));
    assertThat(number(exact, "bitsPerValue")).isEqualTo(32);
    assertThat(number(rounded, "bitsPerValue")).isEqualTo(16);
    assertThat(number(rounded, "bytesPerToken"))
        .isEqualTo(number(exact, "bytesPerToken") / 2, offset(1.0));
    assertThat(number(rounded, "mean"))
        .isEqualTo(number(one, "mean"), offset(0.05))
        .isNotEqualTo(number(exact, "mean"));
  }

  @Test
  @SuppressWarnings("unchecked")
  void speculationIsMeasured() {
    Map<String, Object> exact = measured(PREFILL);
    Map<String, Object> never = measured(PREFILL, "--speculate=lambda=0,chunk=3");
    Map<String, Object> some = measured(PREFILL, "--speculate=lambda=0.2,chunk=3");
    Map<String, Object> always = measured(PREFILL, "--speculate=lambda=1000,chunk=3");
    assertThat(number(never, "mean")).isEqualTo(number(exact, "mean"));
    assertThat(number(never, "hitRate")).isZero();
    assertThat(number(always, "mean")).isNotEqualTo(number(exact, "mean"));
    assertThat(number(always, "hitRate")).isEqualTo(1);
    // The first six tokens are within the two chunks.
    assertThat(number(some, "hitRate")).isBetween(0.5, 0.99);
    assertThat((List<Number>) some.get("hitRateByBlock")).hasSize(4);
    List<Number> byPosition = (List<Number>) some.get("hitRateByPosition");
    assertThat(byPosition).hasSize(LENGTH - 1);
    assertThat(byPosition.subList(0, 6)).allMatch(rate -> rate.doubleValue() == 1);
    assertThat(byPosition.subList(6, LENGTH - 1)).anyMatch(rate -> rate.doubleValue() < 1);
    List<List<Number>> all = (List<List<Number>>) some.get("hitRateByBlockAndPosition");
    assertThat(all).hasSize(4).allMatch(block -> block.size() == LENGTH - 1);
    for (int position = 0; position < LENGTH - 1; position++) {
      int at = position;
      double mean =
          all.stream().mapToDouble(block -> block.get(at).doubleValue()).average().orElseThrow();
      assertThat(mean).isEqualTo(byPosition.get(position).doubleValue(), offset(1e-12));
    }
  }

  @Test
  @Tag("thorough")
  void speculationIsTheSameForDecodersAndDevices() {
    Map<String, Object> some = measured(PREFILL, "--speculate=lambda=0.2,chunk=3");
    Path decode = Invocation.SHAKESPEARE.resolve("decode").resolve("network.onnx");
    Map<String, Object> decoder = measured(decode, "--speculate=lambda=0.2,chunk=3");
    assertThat(number(decoder, "mean")).isEqualTo(number(some, "mean"), offset(1e-5));
    assertThat(decoder.get("hitRateByBlock")).isEqualTo(some.get("hitRateByBlock"));
    Map<String, Object> devices =
        measured(PREFILL, "--speculate=lambda=0.2,chunk=3", "--devices=2");
    assertThat(number(devices, "mean")).isEqualTo(number(some, "mean"), offset(1e-5));
    assertThat(devices.get("hitRateByBlock")).isEqualTo(some.get("hitRateByBlock"));
  }

  @Test
  void lambdaIsChosenWithinABudget() {
    Map<String, Object> all = measured(PREFILL, "--speculate=chunk=3", "--max-loss=9999%");
    assertThat(number(all, "lambda")).isEqualTo(0.25);
    assertThat(number(all, "hitRate")).isBetween(0.5, 1.0);
    // 0.25 sqrt(4 blocks (4 - ln 0.05)), and 4 times 0.25.
    assertThat(number(all, "likelyErrorBound")).isEqualTo(1.3225, offset(1e-4));
    assertThat(number(all, "worstErrorBound")).isEqualTo(1);
  }

  /** Without lambda and a budget, all usual ones are measured. */
  @Test
  @SuppressWarnings("unchecked")
  void thresholdsAreSwept() {
    Map<String, Object> all = measured(PREFILL, "--speculate=chunk=3");
    List<Map<String, Object>> tried = (List<Map<String, Object>>) all.get("tried");
    assertThat(tried)
        .extracting(one -> number(one, "lambda"))
        .containsExactly(0.05, 0.1, 0.15, 0.2, 0.25);
    assertThat(tried).extracting(one -> number(one, "hitRate")).isSorted();
    Map<String, Object> one = measured(PREFILL, "--speculate=lambda=0.2,chunk=3");
    assertThat(tried.get(3)).containsEntry("value", one.get("value"));
    assertThat(tried.get(3)).containsEntry("hitRateByBlock", one.get("hitRateByBlock"));
    assertThat(all).doesNotContainKey("lambda");
    Invocation run = Invocation.of("evaluate", PREFILL, "--data", data, "--speculate=chunk=3");
    assertThat(run.out()).contains("\nexact ", "\n0.25 ").doesNotContain("chosen", "budget");
  }

  /** Both groups of emitted Java give what one device gives, and skip what they needn't compute. */
  @Test
  @Tag("exhaustive")
  void groupsOfDevicesSpeculate() {
    Path decode = Invocation.SHAKESPEARE.resolve("decode").resolve("network.onnx");
    String passes = "--passes=simplify,raise,simplify,kv-state(capacity=12),simplify";
    Map<String, Object> exact = measured(decode, passes);
    Map<String, Object> never = measured(decode, passes + ",speculate(lambda=0,chunk=3)");
    assertThat(number(never, "mean")).isEqualTo(number(exact, "mean"));
    for (String lambda : List.of("0.2", "1000")) {
      Map<String, Object> one = measured(decode, "--speculate=lambda=" + lambda + ",chunk=3");
      Map<String, Object> groups =
          measured(decode, passes + ",speculate(lambda=" + lambda + ",chunk=3,devices=4)");
      assertThat(number(groups, "devices")).isEqualTo(4);
      assertThat(number(groups, "mean")).isEqualTo(number(one, "mean"), offset(1e-5));
    }
  }

  @Test
  void impossibleSpeculationIsRefused() {
    assertThat(refused("--speculate=lambda=-0.1,chunk=3"))
        .contains("P4241", "a number of 0 or more");
    assertThat(refused("--speculate=lambda=0.1,chunk=7"))
        .contains("P4242", "14 tokens", "choose chunk=6 or less");
    assertThat(refused("--speculate=lambda=0.1,chunk=3", "--devices=2", "--sync=bf16"))
        .contains("--speculate needs exact sums");
    assertThat(refused("--speculate=lambda=0.1,chunk=3", "--max-loss=1%"))
        .contains("--max-loss needs --speculate chunk=C");
    assertThat(refused("--speculate=chunk=3", "--max-loss=1"))
        .contains("--max-loss takes a percentage");
  }

  private String refused(Object... more) {
    Object[] arguments = new Object[more.length + 4];
    System.arraycopy(new Object[] {"evaluate", PREFILL, "--data", data}, 0, arguments, 0, 4);
    System.arraycopy(more, 0, arguments, 4, more.length);
    Invocation run = Invocation.of(arguments);
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    return run.err();
  }

  /** Tests that bytes, errors and values are those of separate evaluations. */
  @Tag("thorough")
  @Test
  @SuppressWarnings("unchecked")
  void syncsAreAttributed() {
    Map<String, Object> exact = measured(PREFILL, "--devices=2");
    Map<String, Object> dropped = measured(PREFILL, "--devices=2", "--sync=blocks 1: drop");
    Map<String, Object> both =
        measured(
            PREFILL,
            "--devices=2",
            "--sync=blocks 1: drop; blocks 2: bf16",
            "--attribute",
            "--target=siracusa:chips=2");
    List<Map<String, Object>> syncs = (List<Map<String, Object>>) both.get("syncs");
    List<Map<String, Object>> blocks = (List<Map<String, Object>>) both.get("blocks");
    assertThat(syncs.stream().mapToDouble(sync -> number(sync, "exactBytesPerToken")).sum())
        .isEqualTo(number(exact, "bytesPerToken"), offset(1e-6));
    assertThat(syncs.stream().mapToDouble(sync -> number(sync, "bytesPerToken")).sum())
        .isEqualTo(number(both, "bytesPerToken"), offset(1e-6));
    assertThat(
            syncs.stream()
                .filter(sync -> sync.containsKey("block"))
                .mapToDouble(sync -> number(sync, "bytesPerToken"))
                .sum())
        .isEqualTo(number(both, "blockBytesPerToken"), offset(1e-6))
        .isLessThan(number(both, "bytesPerToken"));
    for (int block = 0; block < 4; block++) {
      int of = block;
      List<Map<String, Object>> each =
          syncs.stream().filter(sync -> Integer.valueOf(of).equals(sync.get("block"))).toList();
      assertThat(each).hasSize(2);
      assertThat(each.stream().map(sync -> ratio(sync, "bytesPerToken", "exactBytesPerToken")))
          .containsExactly(block == 1 ? 0 : block == 2 ? 0.5 : 1.0, block == 2 ? 0.5 : 1.0);
      assertThat(ratio(each.getFirst(), "seconds", "exactSeconds"))
          .matches(ratio -> of == 1 ? ratio == 0 : of == 2 ? ratio < 1 && ratio > 0.4 : ratio == 1);
      assertThat(each.stream().map(sync -> sync.containsKey("error") && sync.containsKey("value")))
          .containsExactly(block == 1 || block == 2, block == 2);
      if (block == 2) {
        // Roundings of two sums are independent.
        double joint = Math.hypot(number(each.get(0), "error"), number(each.get(1), "error"));
        assertThat(joint).isEqualTo(number(blocks.get(1), "error"), offset(0.2 * joint));
        assertThat(number(each.get(0), "value")).isNotEqualTo(number(each.get(1), "value"));
      } else if (block == 1) {
        assertThat(number(each.getFirst(), "error")).isEqualTo(number(blocks.get(0), "error"));
      }
    }
    assertThat(blocks.stream().map(block -> block.get("method"))).containsExactly("drop", "bf16");
    assertThat(number(both, "exactValue")).isEqualTo(number(exact, "value"), offset(1e-6));
    assertThat(number(blocks.get(0), "value")).isEqualTo(number(dropped, "value"), offset(1e-6));
    assertThat(number(blocks.get(0), "error")).isBetween(0.01, 1.0);
    // Two sums rounded to 8 bits, beside an exact residual stream.
    assertThat(number(blocks.get(1), "error")).isBetween(1e-4, 1.0 / 128);
    assertThat(Invocation.of("evaluate", PREFILL, "--data", data, "--attribute").err())
        .contains("--attribute needs --devices N and --sync RULES");
  }

  private static double ratio(Map<String, Object> sync, String key, String of) {
    return number(sync, key) / number(sync, of);
  }

  /** Tests logits that depend on later tokens, whose perplexity is meaningless. */
  @Test
  void encodersHaveNoPerplexity() throws Exception {
    Path model = folder.resolve("encoder.pir");
    Files.writeString(
        model,
        """
        pir 1
        module {
          graph @encoder(%ids: i64[1,4]) -> ("logits": f32[1,4,4]) {
            %0 = cast(%ids) {to = f32} : f32[1,4]
            %1 = reshape(%0) {to = [1,4,1]} : f32[1,4,1]
            %2 = reshape(%0) {to = [1,1,4]} : f32[1,1,4]
            %3 = add(%1, %2) : f32[1,4,4]
            return %3
          }
        }
        """);
    Invocation run = Invocation.of("evaluate", model, "--data", data, "--array=small");
    assertThat(run.exitCode()).isEqualTo(ExitCode.USER_ERROR);
    assertThat(run.err()).contains("P6203", "a causal language model", "as in an encoder");
  }

  @Test
  void classifiersHaveAnAccuracy() throws Exception {
    Path model = folder.resolve("classifier.pir");
    Files.writeString(
        model,
        """
        pir 1
        module {
          graph @classifier(%image: f32[1,1,3]) -> ("logits": f32[1,3]) {
            %0 = reshape(%image) {to = [1,3]} : f32[1,3]
            %1 = neg(%0) : f32[1,3]
            return %1
          }
        }
        """);
    byte[] images = {0, 9, 9, 9, 0, 9, 9, 9, 0, 0, 9, 9};
    long[] pixels = new long[images.length];
    for (int i = 0; i < images.length; i++) {
      pixels[i] = images[i];
    }
    Map<String, Tensor> arrays = new LinkedHashMap<>();
    arrays.put("test", Tensor.ofLongs(TensorType.of(ElementType.U8, 4, 1, 3), pixels));
    arrays.put("test_labels", Tensor.longs(Shape.of(4), 0, 1, 2, 1));
    arrays.put("validation", Tensor.ofLongs(TensorType.of(ElementType.U8, 4, 1, 3), pixels));
    data = folder.resolve("images.npz");
    OutputFile.write(data, out -> Npz.write(arrays, out));
    assertThat(measured(model, "--array=test", "--mean=0.5", "--std=0.5"))
        .containsEntry("metric", "top-1")
        .containsEntry("count", 4)
        .containsEntry("value", 0.75);
    assertThat(refusal(model, "--array=validation")).contains("P6201", "'validation_labels'");
  }

  private String refusal(Path model, String option) {
    Invocation run = Invocation.of("evaluate", model, "--data", data, option);
    assertThat(run.exitCode()).as(run.out() + run.err()).isEqualTo(ExitCode.USER_ERROR);
    return run.err();
  }

  @Test
  void mismatchedDataIsRefused() {
    assertThat(refusal(PREFILL, "--array=valdation"))
        .contains("P6201", "name the array to evaluate: --array validation");
    assertThat(refusal(PREFILL, "--array=unknown"))
        .contains("P6202", "sample 0, token 1", "ids from 0 to 64", "65");
    assertThat(refusal(PREFILL, "--array=single")).contains("P6202", "at least 2 token ids");
    assertThat(refusal(PREFILL, "--array=none")).contains("P6202", "at least one sample");
    assertThat(refusal(PREFILL, "--array=fractions")).contains("P6202", "integers [n, length]");
    assertThat(refusal(PREFILL, "--samples=0")).contains("--samples takes 1 or more, not 0");
  }
}
