package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.UnaryFunction;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Names come from files that nobody has vetted. */
class HostileNamesTest {
  private static final List<String> NAMES =
      List.of(
          "",
          "x",
          "X",
          "x_",
          "class",
          "inputX",
          "outputs",
          "1",
          "*/ int evil; /*",
          "\\u000a int y;",
          "$T",
          "$L",
          "a\nb",
          "\"",
          "{@link Foo}",
          "<b>",
          "\u00e9",
          "this",
          "hashCode",
          "floats0",
          "ab",
          "aB",
          "a_b");

  @Test
  void anyNamesMakeAClassThatCompiles() {
    GraphBuilder builder = new GraphBuilder("*/ \\u002a/ $S \"");
    TensorType type = TensorType.of(ElementType.F32, 2);
    for (String name : NAMES) {
      Value input = builder.input(name, type);
      builder.at(name);
      builder.output(name, builder.add(new Elementwise.Unary(UnaryFunction.NEG), input));
    }
    try (EmittedPrograms programs = new EmittedPrograms()) {
      List<Tensor> inputs =
          NAMES.stream().map(name -> Tensor.floats(Shape.of(2), name.length(), 1)).toList();
      List<Tensor> results = programs.run(builder.finish(), inputs);
      for (int i = 0; i < inputs.size(); i++) {
        assertThat(results.get(i).getDouble(0)).isEqualTo(-inputs.get(i).getDouble(0));
      }
    }
  }
}
