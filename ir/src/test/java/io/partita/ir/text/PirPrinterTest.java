package io.partita.ir.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;

class PirPrinterTest {
  private static final GoldenFile GOLDEN = GoldenFile.of("text/printer.golden");
  private static final Dim SEQ = Dim.symbol("seq");
  private static final Dim PAST = Dim.symbol("past");

  private static void assertPrints(String section, Module module) {
    String text = PirPrinter.print(module);
    GOLDEN.assertMatches(section, text);
    Module read = PirParser.parse(text, section, PirRoundTripTest.weights(module));
    assertThat(read).isEqualTo(module);
  }

  @Test
  void shortGraph() {
    GraphBuilder builder = new GraphBuilder("main");
    Value x = builder.input("x", TensorType.of(ElementType.F32, 2));
    Value two = builder.constant(Tensor.scalar(ElementType.F32, 2));
    Value sum = builder.at("/add").add(new Elementwise.Binary(BinaryFunction.ADD), x, two);
    builder.output("y", sum);
    assertPrints("short graph", new Module(builder.finish()));
  }

  @Test
  void emptyGraph() {
    assertPrints("empty graph", new Module(new GraphBuilder("").finish()));
  }

  @Test
  void graphWithState() {
    GraphBuilder builder = new GraphBuilder("decoder step");
    Value ids = builder.input("input_ids", new TensorType(ElementType.I64, Shape.of(Dim.ONE, SEQ)));
    Value cache =
        builder.input(
            "past_key_values.0.key",
            new TensorType(
                ElementType.F32,
                Shape.of(Dim.ONE, Dim.of(4), PAST.times(Dim.of(4)).plus(4), Dim.of(8))));
    Value start = builder.input("start position", TensorType.of(ElementType.I64, 1));
    Value table = builder.at("embed").constant(ramp(ElementType.F16, 64, 32));
    Value again = builder.at("lm_head").constant(ramp(ElementType.F16, 64, 32));
    Value x = builder.at("/embed/Gather").add(new Structured.Embedding(), table, ids);
    Value logits = builder.at("/lm_head").add(new Structured.Linear(true, false), x, again);
    Node best = builder.at("/top").addNode(new Reduction.TopK(5, 2, true), List.of(logits));
    Value heads =
        builder
            .at("/split")
            .add(new Movement.Reshape(Shape.of(Dim.ONE, SEQ, Dim.of(4), Dim.of(8))), x);
    Value key = builder.add(new Movement.Transpose(List.of(0, 2, 1, 3)), heads);
    Value wide = builder.add(new Elementwise.Cast(ElementType.F32), key);
    Value present =
        builder.at("/cache").add(new Structured.CacheUpdate(2, false), cache, wide, start);
    builder.output("best", best.results().get(0));
    builder.output("token", best.results().get(1));
    builder.output("present.0.key", present);
    assertPrints(
        "graph with state",
        new Module(
            builder.finish(), List.of(new Module.State("past_key_values.0.key", "present.0.key"))));
  }

  private static Tensor ramp(ElementType element, int rows, int columns) {
    double[] values = new double[rows * columns];
    for (int i = 0; i < values.length; i++) {
      values[i] = i / 16.0;
    }
    return Tensor.ofDoubles(TensorType.of(element, rows, columns), values);
  }

  @Test
  void constantsOfEachElementType() {
    GraphBuilder builder = new GraphBuilder("constants");
    for (ElementType element : ElementType.values()) {
      TensorType type = TensorType.of(element, 2, 3);
      double[] values = {0, 1, -1, 0.1, 127, 65504};
      builder.output(element.text(), builder.constant(Tensor.ofDoubles(type, values)));
    }
    builder.output("empty", builder.constant(Tensor.floats(Shape.of(0))));
    float strange = Float.intBitsToFloat(0x7fc00001);
    builder.output(
        "special",
        builder.constant(
            Tensor.floats(
                Shape.of(4), Float.NaN, strange, Float.NEGATIVE_INFINITY, Float.MIN_VALUE)));
    assertPrints("constants of each element type", new Module(builder.finish()));
  }

  @Test
  void namesThatNeedQuotes() {
    GraphBuilder builder = new GraphBuilder("torch-jit-export");
    Dim odd = Dim.symbol("past + 1").times(Dim.of(-2)).plus(PAST).plus(-3);
    TensorType type = new TensorType(ElementType.I4, Shape.of(odd, Dim.symbol("状態")));
    Value x = builder.input("a \"quoted\"\\name\n", type);
    Value y = builder.input("0", type);
    Value z = builder.at("half a pair \ud83c, hidden \u202e").add(new Movement.Concat(1), x, y);
    builder.at("").add(new Source.Extent(odd));
    builder.output("🎵", z);
    assertPrints("names that need quotes", new Module(builder.finish()));
  }

  @Test
  void largeWeightsAreNotHashed() {
    GraphBuilder builder = new GraphBuilder("main");
    Tensor large = ramp(ElementType.F32, 8, 8);
    builder.output("a", builder.constant(large));
    builder.output("b", builder.constant(large));
    builder.output("c", builder.constant(ramp(ElementType.F16, 8, 8)));
    GOLDEN.assertMatches(
        "large weights need not be hashed", PirPrinter.print(new Module(builder.finish()), 128));
  }
}
