package io.partita.backend.java;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class DiagnosticsTest {
  private static final JavaOptions OPTIONS = new JavaOptions("emitted", "Program");

  private static void assertFails(ThrowingCallable call, String text) {
    assertThatThrownBy(call).isInstanceOf(PartitaException.class).hasMessage(text.stripTrailing());
  }

  private static Module copy(Shape shape) {
    GraphBuilder graph = new GraphBuilder("copy");
    Value x = graph.input("x", new TensorType(ElementType.F32, shape));
    graph.output("y", graph.add(new Elementwise.Unary(UnaryFunction.NEG), x));
    return new Module(graph.finish());
  }

  @Test
  void symbolicShape() {
    Module module = copy(Shape.of(Dim.of(2), Dim.symbol("seq")));
    assertFails(
        () -> JavaBackend.emit(module, OPTIONS),
        """
        error P5001: a shape is not known at compile time
          where:     input "x"
          expected:  extents that are numbers
          found:     f32[2,seq]
          fix:       bind the model's symbols, such as --dim seq=128
        """);
  }

  @Test
  void tensorTooLarge() {
    Module module = copy(Shape.of(1 << 16, 1 << 16));
    assertFails(
        () -> JavaBackend.emit(module, OPTIONS),
        """
        error P5009: a tensor is too large for a Java array
          where:     input "x"
          expected:  at most 2147483639 elements
          found:     f32[65536,65536]
          fix:       compile for smaller dimensions
        """);
  }

  @Test
  void invalidJavaName() {
    assertFails(
        () -> new JavaOptions("a.class", "Model"),
        """
        error P5008: the class or package name isn't a Java name
          where:     options --package and --class
          expected:  a package name and a simple class name
          found:     "a.class" and "Model"
          fix:       choose names that Java allows, such as --package com.example --class Model
        """);
  }

  @Test
  void nameOfAClassOfJavaLang() {
    assertFails(
        () -> new JavaOptions("a.b", "Math"),
        """
        error P5008: the class or package name isn't a Java name
          where:     option --class
          expected:  a name that no class of java.lang has, since emitted code uses those by their simple names
          found:     java.lang.Math
          fix:       choose another name, such as --class Model
        """);
    for (String name : List.of("Thread", "Float", "System", "Override")) {
      assertThatThrownBy(() -> new JavaOptions("", name)).hasMessageContaining("P5008");
    }
  }

  @Test
  void inputOfAnotherType() {
    try (ProgramCompiler compiler = new ProgramCompiler();
        ProgramRunner runner =
            ProgramRunner.load(compiler, JavaBackend.emit(copy(Shape.of(2)), OPTIONS))) {
      Tensor wrong = Tensor.longs(Shape.of(2), 1, 2);
      assertFails(
          () -> runner.run(List.of(wrong)),
          """
          error P5006: an input doesn't fit the compiled model
            where:     input "x"
            expected:  f32[2]
            found:     i64[2]
            fix:       give inputs of the types in model.json
          """);
    }
  }

  @Test
  void indexOutOfRange() {
    GraphBuilder graph = new GraphBuilder("gather");
    Value x = graph.input("x", TensorType.of(ElementType.F32, 3));
    Value index = graph.input("i", TensorType.of(ElementType.I64, 1));
    graph.output("y", graph.add(new Movement.Gather(0), x, index));
    Module module = new Module(graph.finish());
    try (ProgramCompiler compiler = new ProgramCompiler();
        ProgramRunner runner = ProgramRunner.load(compiler, JavaBackend.emit(module, OPTIONS))) {
      List<Tensor> inputs =
          List.of(Tensor.floats(Shape.of(3), 1, 2, 3), Tensor.longs(Shape.of(1), 3));
      assertFails(
          () -> runner.run(inputs),
          """
          error P3202: an index is out of range
            where:     input "i"
            expected:  -3 to 2
            found:     3
            fix:       give values in the range
          """);
    }
  }
}
