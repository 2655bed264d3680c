package io.partita.passes.mesh.speculate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Structured;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirFile;
import io.partita.ir.verify.Verifier;
import io.partita.passes.graph.speculate.SpeculateAttention;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.Speculation.Guess;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import io.partita.passes.program.localize.Localization;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SpeculateGroupsTest {
  private static final int CHUNK = 4;
  private static final int TOKENS = 14;

  private static Module groups(int tensor, double lambda) {
    return groups(tensor, lambda, Guess.COMPUTED);
  }

  private static Module groups(int tensor, double lambda, Guess guess) {
    Module module = SmallDecoder.module();
    Module placed = tensor == 1 ? module : new ShardPass(Strategy.tensor(tensor)).run(module);
    Module speculating = new SpeculateGroups(new Speculation(lambda, CHUNK, guess)).run(placed);
    Verifier.verify(speculating);
    return speculating;
  }

  /** The output of each token, one after the other, with caches that persist. */
  private static List<Tensor> tokens(
      Module module, BiFunction<Module, List<Tensor>, List<Tensor>> evaluator) {
    Map<String, Tensor> caches = SmallDecoder.caches(module);
    List<Tensor> results = new ArrayList<>();
    for (int position = 0; position < TOKENS; position++) {
      Map<String, Tensor> given = SmallDecoder.token(position);
      given.putAll(caches);
      List<Tensor> inputs =
          module.graph().inputs().stream().map(Value::name).map(given::get).toList();
      List<Tensor> outputs = evaluator.apply(module, inputs);
      for (int i = 0; i < outputs.size(); i++) {
        String name = module.graph().outputs().get(i).name();
        if (name.equals("y")) {
          results.add(outputs.get(i));
        }
        for (Module.State state : module.states()) {
          if (state.output().equals(name)) {
            caches.put(state.input(), outputs.get(i));
          }
        }
      }
    }
    return results;
  }

  private static List<Tensor> byProgram(Module module, int capacity) {
    Program program = Localization.of(module, capacity);
    ProgramEvaluator evaluator = new ProgramEvaluator(program, capacity);
    List<Tensor> results = new ArrayList<>();
    for (int position = 0; position < TOKENS; position++) {
      results.add(evaluator.run(SmallDecoder.token(position)).get("y"));
    }
    return results;
  }

  private static void assertClose(List<Tensor> found, List<Tensor> expected, double tolerance) {
    assertThat(found).hasSameSizeAs(expected);
    for (int i = 0; i < found.size(); i++) {
      assertThat(found.get(i).doubles())
          .as("token %d", i)
          .containsExactly(expected.get(i).doubles(), within(tolerance));
    }
  }

  @Test
  void bothGroupsTogetherGiveWhatOneDeviceGives() {
    requireSame(0.3);
  }

  @Test
  @Tag("thorough")
  void bothGroupsGiveTheSameWithoutMissesAndWithoutHits() {
    requireSame(0, 1000);
  }

  private static void requireSame(double... thresholds) {
    Module module = SmallDecoder.module();
    for (double lambda : thresholds) {
      List<Tensor> expected =
          tokens(
              new SpeculateAttention(new Speculation(lambda, CHUNK), false).run(module),
              (each, inputs) -> Evaluator.run(each.graph(), inputs));
      for (int tensor : new int[] {1, 2}) {
        double tolerance = tensor == 1 ? 0 : 2e-5;
        for (Guess guess : Guess.values()) {
          Module groups = groups(tensor, lambda, guess);
          assertClose(tokens(groups, MeshEvaluator::run), expected, tolerance);
          assertClose(byProgram(groups, tensor - 1), expected, tolerance);
        }
      }
    }
  }

  @Test
  void lambdaZeroGivesTheExactModel() {
    Module module = SmallDecoder.module();
    List<Tensor> exact = tokens(module, (each, inputs) -> Evaluator.run(each.graph(), inputs));
    assertClose(byProgram(groups(1, 0), 1), exact, 0);
    List<Tensor> approximate = byProgram(groups(1, 1000), 1);
    assertThat(approximate.getLast()).isNotEqualTo(exact.getLast());
  }

  /** On whole values, without devices, a rewritten module is the exact model. */
  @Test
  void wholeValuesAreExact() {
    Module module = SmallDecoder.module();
    BiFunction<Module, List<Tensor>, List<Tensor>> whole =
        (each, inputs) -> Evaluator.run(each.graph(), inputs);
    assertClose(tokens(groups(1, 1000), whole), tokens(module, whole), 0);
  }

  @Test
  void prioritiesAreExchangedAfterTheRegion() {
    assertThat(order(Guess.COMPUTED))
        .isEqualTo(
            twice(
                List.of(
                    "fork",
                    "gate",
                    "fork",
                    "fork",
                    "gate",
                    "stack(2)",
                    "sync",
                    "priority(2)",
                    "sync")));
  }

  /** Only the sender computes it, and before anything else that it skips or not. */
  @Test
  void guessIsSentBeforeTheExactAttention() {
    assertThat(order(Guess.SENT))
        .isEqualTo(
            twice(
                List.of(
                    "fork",
                    "gate",
                    "priority(2)",
                    "sync",
                    "fork",
                    "fork",
                    "gate",
                    "stack(2)",
                    "sync",
                    "priority(2)",
                    "sync")));
    List<Node> nodes = groups(1, 0.1, Guess.SENT).graph().nodes();
    List<Node> attentions =
        nodes.stream().filter(node -> node.op() instanceof Structured.Attention).toList();
    assertThat(attentions).hasSize(2 * SmallDecoder.BLOCKS);
    Node guess = attentions.get(0);
    Node exact = attentions.get(1);
    assertThat(guess.operand(0)).isSameAs(exact.operand(0));
    assertThat(guess.operand(0).definition().op()).isInstanceOf(Communication.Gate.class);
    assertThat(nodes.subList(nodes.indexOf(guess), nodes.indexOf(exact)))
        .extracting(Node::op)
        .hasAtLeastOneElementOfType(Communication.Sync.class);
  }

  private static List<String> order(Guess guess) {
    return groups(1, 0.1, guess).graph().nodes().stream()
        .map(Node::op)
        .filter(op -> op instanceof Communication)
        .map(
            op ->
                op instanceof Communication.Settle settle
                    ? settle.exit().toString()
                    : op.mnemonic())
        .toList();
  }

  private static List<String> twice(List<String> block) {
    List<String> both = new ArrayList<>(block);
    both.addAll(block);
    return both;
  }

  @Test
  void devicesAreSplitIntoTwoGroups() {
    Speculation options = new Speculation(0.1, CHUNK);
    Module module = SmallDecoder.module();
    assertThat(new SpeculateGroups(options, OptionalLong.of(4)).run(module))
        .isEqualTo(groups(2, 0.1));
    assertThat(new SpeculateGroups(options, OptionalLong.of(2)).run(module))
        .isEqualTo(groups(1, 0.1));
  }

  @Test
  void textIsReadAgain(@TempDir Path folder) {
    Module module = groups(2, 0.1);
    Path file = folder.resolve("groups.pir");
    PirFile.write(module, file);
    assertThat(file).content().contains("mesh(speculative=2, head=2)", "= fork(", "= gate(");
    assertThat(PirFile.read(file)).isEqualTo(module);
  }

  @Test
  void impossibleModulesAreRefused() {
    Module module = SmallDecoder.module();
    Speculation options = new Speculation(0.1, CHUNK);
    assertThatThrownBy(() -> new SpeculateGroups(options).run(groups(1, 0.1)))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4244")
        .hasMessageContaining("run it once");
    assertThatThrownBy(() -> new SpeculateGroups(new Speculation(0.1, 13)).run(module))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4242")
        .hasMessageContaining("choose chunk=12 or less");
    assertThatThrownBy(() -> new SpeculateGroups(options, OptionalLong.of(3)).run(module))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4244")
        .hasMessageContaining("an even number of 2 or more")
        .hasMessageContaining("in passes devices=2 or devices=4");
    Module sharded = new ShardPass(Strategy.tensor(2)).run(module);
    assertThatThrownBy(() -> new SpeculateGroups(options, OptionalLong.of(2)).run(sharded))
        .hasMessageContaining("twice the 2 devices of the module")
        .hasMessageContaining("write devices=4");
    Module noCache = new Module(new io.partita.ir.graph.GraphBuilder("empty").finish());
    assertThatThrownBy(() -> new SpeculateGroups(options).run(noCache))
        .isInstanceOf(PartitaException.class)
        .hasMessageContaining("P4243")
        .hasMessageContaining("after kv-state");
  }
}
