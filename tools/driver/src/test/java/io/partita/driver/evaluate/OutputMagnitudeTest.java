package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.driver.text.CompiledModel;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class OutputMagnitudeTest {
  private static final Path MODEL = Path.of("model.onnx");

  /** A program that returns its features doubled, and remembers its inputs. */
  private static final class Doubled implements CompiledModel {
    private final boolean isDecoder;
    private final List<List<Tensor>> runs = new ArrayList<>();
    private int resets;

    Doubled(boolean isDecoder) {
      this.isDecoder = isDecoder;
    }

    private static ShardedType type(ElementType element, long... extents) {
      TensorType type = TensorType.of(element, extents);
      return new ShardedType(type, Layout.replicated(new Mesh(List.of()), type.rank()));
    }

    @Override
    public ProgramInterface description() {
      ShardedType features = type(ElementType.F32, 1, isDecoder ? 1 : 3, 2);
      List<ProgramInterface.Port> inputs = new ArrayList<>();
      inputs.add(new ProgramInterface.Port("features", features));
      if (isDecoder) {
        inputs.add(new ProgramInterface.Port("position", type(ElementType.I64, 1)));
      }
      ShardedType cache = type(ElementType.F32, 1, 1, 3, 2);
      return new ProgramInterface(
          "doubled",
          new Mesh(List.of()),
          inputs,
          List.of(new ProgramInterface.Port("out", features)),
          isDecoder ? List.of(new ProgramInterface.StatePort("past", "present", cache)) : List.of(),
          isDecoder ? Optional.of(new Module.Room(3, OptionalLong.empty())) : Optional.empty(),
          Optional.empty());
    }

    @Override
    public List<Tensor> run(List<Tensor> inputs) {
      runs.add(inputs);
      float[] values = inputs.getFirst().floats().clone();
      for (int i = 0; i < values.length; i++) {
        values[i] *= 2;
      }
      return List.of(Tensor.of(inputs.getFirst().type(), values));
    }

    @Override
    public List<Tensor> runChunk(List<Tensor> inputs) {
      throw new UnsupportedOperationException();
    }

    @Override
    public void reset() {
      resets++;
    }

    @Override
    public void close() {}
  }

  private static EvaluationData data(int tokens) {
    float[] values = new float[2 * tokens * 2];
    for (int i = 0; i < values.length; i++) {
      values[i] = i + 1;
    }
    Tensor samples = Tensor.floats(Shape.of(2, tokens, 2), values);
    return new EvaluationData("data.npz", "calibration", samples, Optional.empty());
  }

  /** The second sample holds 7 to 12; the mean of their squares, doubled, is 4 * 559 / 6. */
  private static final double MEAN = 4 * 559.0 / 6;

  @Test
  void aModelOfFeaturesTakesWholeSamples() {
    Doubled program = new Doubled(false);
    Metric metric = MetricChoice.observed(MODEL, data(3), Scaling.NONE, program);
    assertThat(metric.score(program, 1).mean()).isEqualTo(MEAN);
    assertThat(metric.value(MEAN)).isEqualTo(Math.sqrt(MEAN));
    assertThat(program.runs).hasSize(1);
  }

  @Test
  void aDecoderTakesTheTokensOfASampleInOrder() {
    Doubled program = new Doubled(true);
    Metric metric = MetricChoice.observed(MODEL, data(3), Scaling.NONE, program);
    assertThat(metric.score(program, 1).mean()).isEqualTo(MEAN);
    assertThat(program.resets).isEqualTo(1);
    assertThat(program.runs)
        .extracting(run -> run.getFirst().getDouble(0), run -> run.get(1).getLong(0))
        .containsExactly(tuple(7.0, 0L), tuple(9.0, 1L), tuple(11.0, 2L));
  }

  @Test
  void samplesOfAnotherSizeAreRefused() {
    assertThatThrownBy(
            () -> MetricChoice.observed(MODEL, data(4), Scaling.NONE, new Doubled(false)))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("samples of [1,3,2], as the model takes f32[1,3,2]");
    assertThatThrownBy(() -> MetricChoice.observed(MODEL, data(4), Scaling.NONE, new Doubled(true)))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("samples of at most 3 tokens, which the cache holds");
  }

  @Test
  void evaluationAsksForAModelWhoseQualityIsKnown() {
    assertThatThrownBy(() -> MetricChoice.of(MODEL, data(3), Scaling.NONE, new Doubled(false)))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P6203")
        .hasMessageContaining("inputs features: f32[1,3,2]; outputs out: f32[1,3,2]");
  }
}
