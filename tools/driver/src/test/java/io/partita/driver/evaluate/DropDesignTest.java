package io.partita.driver.evaluate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.driver.Compilation;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Op;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.mesh.sync.BlockSelection;
import io.partita.passes.mesh.sync.DropSyncs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SequencedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Reproduces the design choices of sync-point drop, table 1 of the paper's appendix, in direction:
 * with the sync of the first block dropped, perplexity is better if the devices' terms of attention
 * join the second sum (1a), and if the bias is added after it (1b).
 */
@Tag("exhaustive")
class DropDesignTest {
  private static final Path MODEL = Path.of("../../../shared/models/shakespeare-opt");
  private static final int DEVICES = 8;
  private static final int SAMPLES = 4;

  @Test
  void designOfThePaperIsBest() {
    Path network = MODEL.resolve("prefill/network.onnx");
    assumeTrue(
        Files.exists(network), "SKIPPED: " + MODEL + " is not beside the repository in ../shared");
    Evaluation.Request request =
        new Evaluation.Request(
            new Compilation.Request(network, Map.of(), Map.of(), null, OptionalLong.empty()),
            Optional.empty(),
            EvaluationData.read(MODEL.resolve("eval.npz"), "validation"),
            Scaling.NONE,
            OptionalInt.of(SAMPLES),
            2);
    Module module =
        MetricChoice.prepared(
            request.model(), request.data(), new Compilation(note -> {}, step -> {})::prepare);
    Strategy strategy = Strategy.of(Map.of("tensor", "" + DEVICES));
    Module exact = new ShardPass(strategy).run(module);
    Module dropped = new DropSyncs(BlockSelection.parse("0").orElseThrow()).run(exact);
    double perplexity = value(request, exact);
    double chosen = value(request, dropped);
    double notReduced = value(request, attentionAfterReduction(dropped));
    double repeated = value(request, biasBeforeReduction(dropped));
    assertThat(perplexity).isLessThan(chosen);
    assertThat(notReduced).as("residual added after the reduction").isGreaterThan(chosen);
    assertThat(repeated).as("bias added before the reduction").isGreaterThan(chosen);
  }

  private static double value(Evaluation.Request request, Module module) {
    return new Evaluation(note -> {}, step -> {}).run(request, module).value();
  }

  private static Node first(Module module, Class<? extends Op> op) {
    return module.graph().nodes().stream()
        .filter(node -> op.isInstance(node.op()))
        .filter(node -> node.origin().block().orElse(-1) == 0)
        .findFirst()
        .orElseThrow();
  }

  /** The block's output has only the first device's term of attention. */
  private static Module attentionAfterReduction(Module dropped) {
    Node term = first(dropped, Communication.Localize.class);
    Node sum = first(dropped, Communication.Sync.class);
    String axis = ((Communication.Localize) term.op()).axis();
    GraphEditor graph = new GraphEditor(dropped.graph());
    graph.before(sum);
    Value output = graph.add(sum.op(), sum.operand(0));
    Value all = graph.add(sum.op(), term.operand(0));
    Value own = graph.add(new Communication.Settle(axis, new Exit.Take(0)), term.result());
    SequencedMap<String, SyncKind> broadcast = new LinkedHashMap<>();
    broadcast.put(axis, SyncKind.BROADCAST);
    Layout whole = ((Communication.Sync) sum.op()).to();
    Value first =
        graph.add(new Communication.Sync(broadcast, whole, Optional.empty(), Codec.EXACT), own);
    Value others = graph.add(new Elementwise.Binary(BinaryFunction.SUB), output, all);
    graph.replace(
        sum.result(), graph.add(new Elementwise.Binary(BinaryFunction.ADD), others, first));
    return dropped.with(graph.freeze());
  }

  /** The block's output has the bias of attention once for each device. */
  private static Module biasBeforeReduction(Module dropped) {
    Node term = first(dropped, Communication.Localize.class);
    Node sum = first(dropped, Communication.Sync.class);
    Value bias =
        dropped.graph().nodes().stream()
            .filter(node -> node.operands().contains(term.result()))
            .flatMap(node -> node.operands().stream())
            .filter(value -> value.type().rank() == 1)
            .findFirst()
            .orElseThrow();
    GraphEditor graph = new GraphEditor(dropped.graph());
    graph.before(sum);
    Value output = graph.add(sum.op(), sum.operand(0));
    Value times = graph.constant(Tensor.scalar(ElementType.F32, DEVICES - 1));
    Value more = graph.add(new Elementwise.Binary(BinaryFunction.MUL), bias, times);
    graph.replace(
        sum.result(), graph.add(new Elementwise.Binary(BinaryFunction.ADD), output, more));
    return dropped.with(graph.freeze());
  }
}
