package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.factor.SampleValues;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Contraction;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WorkAfterExchangesTest {
  /** Linear attention: queries of own tokens, and keys and values of all. */
  private static Module attention(int devices, String algorithm) {
    return PirParser.parse(
        """
        pir 1
        module {
          mesh(x=%1$d)
          graph @main(%%a: f32[13{x},6], %%q: f32[6,4], %%k: f32[6,4], %%v: f32[6,3]) -> ("y": f32[13{x},3]) {
            %%0 = matmul(%%a, %%q) {result = f32} : f32[13{x},4]
            %%1 = matmul(%%a, %%k) {result = f32} : f32[13{x},4]
            %%2 = matmul(%%a, %%v) {result = f32} : f32[13{x},3]
            %%3 = sync(%%1) {kind = "all_gather(x)", to = "[*,*]", algorithm = "%2$s"} : f32[13,4]
            %%4 = sync(%%2) {kind = "all_gather(x)", to = "[*,*]", algorithm = "%2$s"} : f32[13,3]
            %%5 = transpose(%%3) {permutation = [1, 0]} : f32[4,13]
            %%6 = matmul(%%5, %%4) {result = f32} : f32[4,3]
            %%7 = matmul(%%0, %%6) {result = f32} : f32[13{x},3]
            return %%7
          }
        }
        """
            .formatted(devices, algorithm));
  }

  /** Returns products by their columns, sends as {@code >} and receives as {@code <}. */
  private static String steps(Program program, int device) {
    StringBuilder steps = new StringBuilder();
    for (Node node : program.devices().get(device).graph().nodes()) {
      if (node.op() instanceof Exchange exchange) {
        exchange.steps().forEach(step -> steps.append(step instanceof Step.Send ? '>' : '<'));
      } else if (node.op() instanceof Contraction) {
        steps.append(' ').append(node.result().type().dim(1)).append(' ');
      }
    }
    return steps.toString();
  }

  @Test
  void productsThatNoExchangeNeedsAreComputedMeanwhile() {
    Program program = DelayReceives.apply(Localization.of(attention(2, "direct"), 1), 1);
    for (int device = 0; device < 2; device++) {
      assertThat(steps(program, device)).isEqualTo(" 4 > 3 <> 4 < 3  3 ");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"direct", "ring", "tree(2)"})
  void resultsStayTheSame(String algorithm) {
    Module module = attention(3, algorithm);
    Map<String, Tensor> inputs = SampleValues.inputs(module.graph(), new Draw(3));
    Program plain = Localization.of(module, 1);
    Program program = DelayReceives.apply(plain, 1);
    assertThat(new ProgramEvaluator(program, 1).run(inputs))
        .isEqualTo(new ProgramEvaluator(plain, 1).run(inputs));
  }

  /** Tests that a product beside a gather is one that doesn't depend on it. */
  @Test
  void gathersHaveAProductBesideThem() {
    Module module = attention(2, "direct");
    List<Node> nodes = module.graph().nodes();
    assertThat(WorkAfterExchanges.gathers(module))
        .containsExactly(
            new Gather(nodes.get(3), nodes.get(0)), new Gather(nodes.get(4), nodes.get(0)));
  }
}
