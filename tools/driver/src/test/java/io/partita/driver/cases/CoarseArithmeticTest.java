package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.backend.emitted.probe.Finding;
import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.frontend.onnx.ImportOptions;
import io.partita.ir.graph.Origin;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What explains that a program with fewer bits differs from the recorded outputs. */
class CoarseArithmeticTest {
  private static final Tensor RECORDED = tensor(1, -2, 3);

  /** As if operands had lost bits. */
  private static final Tensor COARSE = tensor(1.003, -1.995, 2.99);

  private static Tensor tensor(double... elements) {
    return Tensor.ofDoubles(TensorType.of(ElementType.F32, elements.length), elements);
  }

  private static ProbeComparison.Result launches(Optional<Finding> finding) {
    return new ProbeComparison.Result(finding, "", 1, 7, 0.001, "");
  }

  private static Comparison explain(
      Optional<Finding> finding, Tensor recorded, Tensor exact, Tensor found) {
    Map<String, Tensor> expected = Map.of("y", recorded);
    Map<String, Tensor> evaluated = Map.of("y", exact);
    Map<String, Tensor> outputs = Map.of("y", found);
    return CoarseArithmetic.explain(
        Comparison.worst(expected, outputs, Tolerance.DEFAULT),
        launches(finding),
        Comparison.worst(expected, evaluated, Tolerance.DEFAULT),
        new Recording(null, ImportOptions.NONE, Map.of(), expected, outputs, Tolerance.DEFAULT),
        evaluated);
  }

  @Test
  void launchesWithinTheirArithmeticExplainSmallDifferences() {
    Comparison explained = explain(Optional.empty(), RECORDED, RECORDED, COARSE);
    assertThat(explained.passes()).isTrue();
    assertThat(explained.note())
        .isEqualTo(
            "differs by 0.0100, relative error 0.0031; each of 7 launches is within what its kernel may compute");
  }

  @Test
  void aLaunchThatDivergesFails() {
    Finding finding =
        new Finding(Finding.Kind.DIVERGES, 0, 3, 7, Origin.NONE, "element 5", "1.0 to 1.1", "1.2");
    Comparison explained = explain(Optional.of(finding), RECORDED, RECORDED, COARSE);
    assertThat(explained.passes()).isFalse();
    assertThat(explained.message())
        .startsWith("output 'y'[2]: expected 3.0, found 2.99")
        .endsWith(
            "; DIVERGES chip 0, step 3 of 7, element 5: expected 1.0 to 1.1, found 1.2; step 2 agrees");
  }

  /** The graph that launches are compared with isn't what was recorded. */
  @Test
  void aModelThatDiffersFails() {
    Comparison explained = explain(Optional.empty(), RECORDED, tensor(1, -2, 3.1), COARSE);
    assertThat(explained.passes()).isFalse();
    assertThat(explained.message())
        .contains(
            "; the reference evaluator differs too: output 'y'[2]: expected 3.0, found 3.0999999");
  }

  /** Such as another matrix that is taken for the output. */
  @Test
  void outputsThatDoNotCorrelateFail() {
    Comparison explained = explain(Optional.empty(), RECORDED, RECORDED, tensor(1, -2, 2));
    assertThat(explained.passes()).isFalse();
    assertThat(explained.message()).endsWith("; relative error 0.27 of output 'y'");
    assertThat(explain(Optional.empty(), RECORDED, RECORDED, tensor(1, -2, Double.NaN)).passes())
        .isFalse();
  }

  @Test
  void integersMustBeEqual() {
    Tensor right = Tensor.ofLongs(TensorType.of(ElementType.I64, 2), new long[] {100, 200});
    Tensor wrong = Tensor.ofLongs(TensorType.of(ElementType.I64, 2), new long[] {100, 201});
    assertThat(explain(Optional.empty(), right, right, wrong).passes()).isFalse();
  }
}
