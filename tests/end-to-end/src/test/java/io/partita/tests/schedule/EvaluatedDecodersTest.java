package io.partita.tests.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.driver.Compilation;
import io.partita.driver.Distribution;
import io.partita.driver.Entries;
import io.partita.driver.Preparation;
import io.partita.driver.chip.ChipTarget;
import io.partita.ir.graph.Value;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.Unit;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A decoder's schedules keep its cache between runs: a chunk of a prompt followed by single tokens
 * gives the reference's results for single tokens, also if weights and the cache are streamed from
 * L3.
 */
class EvaluatedDecodersTest {
  private static final Path MODEL = Path.of("../models/tiny-shakespeare-prompt/network.onnx");
  private static final int CHUNK = 4;
  private static final int TOKENS = 7;

  private static Map<String, Tensor> inputs(Entries entries, boolean isChunk, int from, int count) {
    Map<String, Tensor> inputs = new HashMap<>();
    List<Value> declared =
        (isChunk ? entries.chunk().orElseThrow() : entries.step()).graph().inputs();
    for (Value input : declared) {
      boolean isPosition = input.name().equals("position_ids");
      if (input.name().equals("input_ids") || isPosition) {
        long[] values = new long[count];
        for (int i = 0; i < count; i++) {
          values[i] = isPosition ? from + i : 11 * (from + i) % 65;
        }
        inputs.put(input.name(), Tensor.ofLongs(input.type(), values));
      } else if (input.type().rank() <= 1 && input.type().element().isInteger()) {
        inputs.put(input.name(), Tensor.filled(input.type(), from));
      }
    }
    return inputs;
  }

  @ParameterizedTest
  @CsvSource({"2, 2048", "1, 700"})
  void chunksAndTokens(int chips, int l2) {
    Preparation preparation = new Preparation(note -> {}, progress -> {});
    Entries entries =
        preparation.prepareEntries(
            new Compilation.Request(
                MODEL, Map.of("past", 16L), Map.of(), null, OptionalLong.of(CHUNK)));
    ProgramEvaluator reference = new ProgramEvaluator(Distribution.programs(entries).step(), 1);
    Entries placed =
        chips == 1 ? entries : entries.map(new ShardPass(Strategy.parse("tensor=" + chips))::run);
    ChipTarget target =
        ChipTarget.of("siracusa:chips=" + chips, Map.of("l2", new Quantity(l2, Unit.KIB)));
    ScheduleEvaluator evaluator =
        new ScheduleEvaluator(target.schedule(Distribution.programs(placed)));
    for (int again = 0; again < 2; again++) {
      Tensor first = evaluator.run(1, inputs(entries, true, 0, CHUNK)).get("logits");
      for (int token = 0; token < TOKENS; token++) {
        float[] expected = reference.run(inputs(entries, false, token, 1)).get("logits").floats();
        float[] found =
            token < CHUNK
                ? row(first, token)
                : evaluator.run(0, inputs(entries, false, token, 1)).get("logits").floats();
        for (int i = 0; i < expected.length; i++) {
          assertThat(found[i]).as("token %d", token).isCloseTo(expected[i], within(1e-3f));
        }
      }
      evaluator.reset();
      reference = new ProgramEvaluator(Distribution.programs(entries).step(), 1);
    }
  }

  private static float[] row(Tensor logits, int token) {
    int vocabulary = Math.toIntExact(logits.shape().fromEnd(0).value());
    float[] row = new float[vocabulary];
    Dim rows = logits.shape().fromEnd(1);
    assertThat(rows.value()).isGreaterThan(token);
    System.arraycopy(logits.floats(), token * vocabulary, row, 0, vocabulary);
    return row;
  }
}
