package io.partita.passes.graph.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Elementwise;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests that entry points of a model share equal constants. */
class SharedWeightsTest {
  private static final TensorType PAIR = TensorType.of(ElementType.F32, 2);

  /** Adds constants to the input. */
  private static Module adding(Tensor... constants) {
    GraphBuilder graph = new GraphBuilder("main");
    Value sum = graph.input("x", constants[0].type());
    for (Tensor constant : constants) {
      sum = graph.add(new Elementwise.Binary(BinaryFunction.ADD), sum, graph.constant(constant));
    }
    graph.output("y", sum);
    return new Module(graph.finish());
  }

  private static List<Tensor> constants(Module module) {
    return module.graph().nodes().stream().map(Node::constant).flatMap(Optional::stream).toList();
  }

  private static Tensor pair(float first, float second) {
    return Tensor.floats(Shape.of(2), first, second);
  }

  @Test
  void equalConstantsBecomeOneTensor() {
    Tensor one = pair(1, 2);
    Module second = SharedWeights.share(adding(one), adding(pair(3, 4), pair(1, 2)));
    List<Tensor> shared = constants(second);
    assertThat(shared.stream().filter(tensor -> tensor == one)).hasSize(1);
    assertThat(shared).contains(pair(3, 4));
    assertThat(Evaluator.run(second.graph(), List.of(pair(0, 1))).getFirst()).isEqualTo(pair(4, 7));
  }

  @Test
  void unequalConstantsAreNotShared() {
    Tensor one = pair(1, 2);
    Tensor column = Tensor.of(TensorType.of(ElementType.F32, 2, 1), new float[] {1, 2});
    assertThat(constants(SharedWeights.share(adding(one), adding(column))).getFirst())
        .as("another shape")
        .isSameAs(column);
    Tensor negative = pair(-0f, 1);
    assertThat(constants(SharedWeights.share(adding(pair(0f, 1)), adding(negative))).getFirst())
        .as("a zero of another sign")
        .isSameAs(negative);
  }

  /** Tests that mapped weights are compared by their position in the file. */
  @Test
  void mappedWeightsAreComparedByAddress(@TempDir Path folder) throws IOException {
    Path file = folder.resolve("weights");
    Files.write(file, new byte[16]);
    try (Arena arena = Arena.ofConfined();
        FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, 16, arena);
      Tensor front = Tensor.of(PAIR, mapped.asSlice(0, 8));
      Tensor again = Tensor.of(PAIR, mapped.asSlice(0, 8));
      Tensor back = Tensor.of(PAIR, mapped.asSlice(8, 8));
      List<Tensor> shared = constants(SharedWeights.share(adding(front), adding(again, back)));
      assertThat(shared.stream().filter(tensor -> tensor == front)).hasSize(1);
      assertThat(shared.stream().filter(tensor -> tensor == back)).hasSize(1);
    }
  }
}
