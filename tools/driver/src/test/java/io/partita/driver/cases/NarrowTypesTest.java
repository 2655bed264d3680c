package io.partita.driver.cases;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork.Requantize;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NarrowTypesTest {
  private static final TensorType WORDS = TensorType.of(ElementType.I32, 2, 3);

  /** A cache with a new part, bytes of both signs and without, and sums. */
  private static Module network() {
    GraphBuilder graph = new GraphBuilder("network");
    Value cache = graph.input("cache", WORDS);
    Value x = graph.input("x", WORDS);
    Value one = graph.constant(Tensor.filled(TensorType.of(ElementType.I32), 1));
    Value bytes = graph.add(new Requantize(3, -128, 127, ElementType.I32), x, one, one);
    graph.output("longer", graph.add(new Movement.Concat(0), cache, bytes));
    graph.output("bytes", bytes);
    graph.output("unsigned", graph.add(new Requantize(3, 0, 255, ElementType.I32), x, one, one));
    graph.output("sum", graph.add(new Elementwise.Binary(BinaryFunction.ADD), bytes, bytes));
    return new Module(graph.finish());
  }

  private static Tensor words(long... values) {
    return Tensor.ofLongs(WORDS, values);
  }

  private static List<ElementType> outputs(Module module) {
    return module.graph().outputs().stream()
        .map(output -> output.value().type().element())
        .toList();
  }

  @Test
  void outputsAreAsNarrowAsFollowsFromTheInputs() {
    Tensor cache = words(-128, 127, 0, 1, 2, 3);
    Tensor x = words(-5000, 5000, 600, 40, -40, 0);
    Module narrow = NarrowTypes.of(network(), Map.of("cache", cache, "x", x));
    assertThat(narrow.graph().inputs())
        .extracting(input -> input.type().element())
        .containsExactly(ElementType.I8, ElementType.I32);
    assertThat(outputs(narrow))
        .containsExactly(ElementType.I8, ElementType.I8, ElementType.U8, ElementType.I32);
    List<Tensor> expected = Evaluator.run(network().graph(), List.of(cache, x));
    long[] values = {-128, 127, 0, 1, 2, 3};
    Tensor bytes = Tensor.ofLongs(WORDS.with(ElementType.I8), values);
    List<Tensor> found = Evaluator.run(narrow.graph(), List.of(bytes, x));
    for (int i = 0; i < expected.size(); i++) {
      assertThat(values(found.get(i))).isEqualTo(values(expected.get(i)));
    }
  }

  private static List<Double> values(Tensor tensor) {
    return IntStream.range(0, tensor.size()).mapToObj(tensor::getDouble).toList();
  }

  @Test
  void wideInputsStayAndWhatContainsThem() {
    Tensor cache = words(-129, 127, 0, 1, 2, 3);
    Module narrow = NarrowTypes.of(network(), Map.of("cache", cache, "x", cache));
    assertThat(outputs(narrow))
        .containsExactly(ElementType.I32, ElementType.I8, ElementType.U8, ElementType.I32);
  }

  @Test
  void nothingIsNarrowedWithoutRecordedIntegers() {
    Module network = network();
    assertThat(NarrowTypes.of(network, Map.of())).isSameAs(network);
  }
}
