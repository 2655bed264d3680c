package io.partita.backend.java;

import io.partita.backend.emitted.ProgramDescription;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.golden.GoldenFile;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import io.partita.passes.graph.anatomy.BlockRoles;
import java.io.IOException;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** The complete emitted files; {@code -Dgolden.update=true} updates them. */
class GoldenSourceTest {
  @Test
  void classifier() throws IOException {
    GraphBuilder builder = new GraphBuilder("classifier");
    Value x = builder.input("features", TensorType.of(ElementType.F32, 2, 4));
    Value weight = builder.at("dense.weight").constant(ramp(4, 3));
    Value bias = builder.at("dense.bias").constant(ramp(3));
    Value hidden =
        builder.at("/dense/Gemm").add(new Structured.Linear(false, true), x, weight, bias);
    Value doubled =
        builder
            .at("/Mul")
            .add(
                new Elementwise.Binary(BinaryFunction.MUL),
                hidden,
                builder.constant(Tensor.scalar(ElementType.F32, 2)));
    Value positive = builder.at("/Relu").add(new Elementwise.Unary(UnaryFunction.RELU), doubled);
    builder.output("scores", builder.at("/Softmax").add(new Reduction.Softmax(1, false), positive));
    builder.output(
        "class",
        builder.at("/ArgMax").add(new Reduction.ArgReduce(true, 1, false, false), positive));
    verify("Classifier", new Module(builder.finish()));
  }

  private static Tensor ramp(long... extents) {
    Shape shape = Shape.of(extents);
    float[] data = new float[(int) shape.elements()];
    for (int i = 0; i < data.length; i++) {
      data[i] = i * 0.25f;
    }
    return Tensor.floats(shape, data);
  }

  @Test
  void decoder() throws IOException {
    verify("Decoder", BlockRoles.record(new DecoderGraph(8, 16, 2, 2, 10, 4).module()));
  }

  private static void verify(String name, Module module) throws IOException {
    EmittedJava program = JavaBackend.emit(module, new JavaOptions("golden", name));
    GoldenFile golden = GoldenFile.of("java/" + name.toLowerCase(Locale.ROOT) + ".golden");
    golden.assertMatches(name + ".java", program.files().getFirst().text());
    golden.assertMatches(ProgramDescription.FILE, program.description().json());
  }
}
