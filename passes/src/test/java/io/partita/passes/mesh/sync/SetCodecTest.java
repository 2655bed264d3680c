package io.partita.passes.mesh.sync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.message.Step;
import io.partita.ir.op.Bf16Codec;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.DecoderBlocks;
import io.partita.ir.propagate.LayoutPropagation;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.propagate.SyncInsertion;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirPrinter;
import io.partita.passes.program.localize.Localization;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SetCodecTest {
  /** Two blocks have four sums; each hop of each rounds to 8 bits, of values of about 1. */
  private static final double TOLERANCE = 4 * 0x1p-8 * 4;

  private final DecoderBlocks blocks = new DecoderBlocks();
  private final Graph graph = blocks.build(2);
  private final Tensor x = input();

  private Tensor input() {
    SplittableRandom random = new SplittableRandom(3);
    double[] values = random.doubles(blocks.input.type().shape().elements(), -1, 1).toArray();
    return Tensor.ofDoubles(blocks.input.type(), values);
  }

  private Module exact(int devices, Algorithm algorithm) {
    Mesh mesh = Mesh.line("x", devices);
    Module module =
        SyncInsertion.insert(LayoutPropagation.run(graph, mesh, blocks.pinned(mesh)), List.of());
    return new ChooseAlgorithms(change -> algorithm).run(module);
  }

  private static long sentBytes(Program program) {
    return program.devices().stream()
        .flatMap(device -> device.graph().nodes().stream())
        .filter(node -> node.op() instanceof Exchange)
        .flatMap(node -> ((Exchange) node.op()).steps().stream())
        .filter(step -> step instanceof Step.Send)
        .mapToLong(Step::bytes)
        .sum();
  }

  static Stream<Arguments> machines() {
    return Stream.of(new Algorithm.Tree(2), new Algorithm.Ring(), new Algorithm.Direct())
        .flatMap(algorithm -> Stream.of(2, 3, 5).map(count -> Arguments.of(count, algorithm)));
  }

  /** The evaluators refuse different replicas. */
  @ParameterizedTest
  @MethodSource("machines")
  void halfTheBytesAreSent(int devices, Algorithm algorithm) {
    Module exact = exact(devices, algorithm);
    Module coded = new SetCodec(new Bf16Codec()).run(exact);
    Program program = Localization.of(coded, 1);
    assertThat(2 * sentBytes(program)).isEqualTo(sentBytes(Localization.of(exact, 1)));
    Tensor expected = Evaluator.run(graph, List.of(x)).getFirst();
    Tensor onMesh = MeshEvaluator.run(coded, List.of(x)).getFirst();
    Tensor found = new ProgramEvaluator(program, 1).run(Map.of("x", x)).get("y");
    double largest = 0;
    for (int i = 0; i < expected.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(TOLERANCE));
      assertThat(onMesh.getDouble(i)).isCloseTo(expected.getDouble(i), within(TOLERANCE));
      largest = Math.max(largest, Math.abs(found.getDouble(i) - expected.getDouble(i)));
    }
    assertThat(largest).as("what is rounded differs").isGreaterThan(0x1p-12);
  }

  @Test
  void theTextNamesTheCodec() {
    Module coded = new SetCodec(new Bf16Codec()).run(exact(3, new Algorithm.Ring()));
    String text = PirPrinter.print(coded);
    assertThat(text)
        .contains(
            "{kind = \"all_reduce(x)\", to = \"[*,*,*]\", algorithm = \"ring\", codec = \"bf16\"}");
    assertThat(text.lines().filter(line -> line.contains("codec"))).hasSize(4);
    assertThat(new SetCodec(new Bf16Codec()).run(coded)).isEqualTo(coded);
  }
}
