package io.partita.passes.mesh.speculate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.eval.Evaluator;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Source;
import io.partita.ir.propagate.MeshEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.verify.Verifier;
import io.partita.passes.graph.speculate.SpeculateAttention;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.Speculation.Guess;
import io.partita.passes.mesh.shard.ShardPass;
import io.partita.passes.mesh.shard.Strategy;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Breaks the control of speculating groups in random ways: drops gates, exchanges operands, changes
 * priorities and places. Each broken module is refused by the verifier, or its outputs are still
 * among those that speculation allows.
 */
class MutatedGroupsTest {
  private static final int CHUNK = 4;
  private static final double ALWAYS = 1000;

  private SplittableRandom random = new SplittableRandom(9);
  private final List<Tensor> inputs = inputs();
  private int refused;
  private int harmless;

  @Test
  void brokenControlIsRefusedOrHarmless() {
    mutate(20);
  }

  /**
   * {@code -Dmutations=N} tries another number and prints what became of them, {@code
   * -Dmutations.seed=S} other ones; 10,000 take several minutes.
   */
  @Test
  @Tag("thorough")
  void manyBrokenModulesAreRefusedOrHarmless() {
    random = new SplittableRandom(Long.getLong("mutations.seed", 9));
    Integer given = Integer.getInteger("mutations");
    mutate(given == null ? 150 : given);
    if (given != null) {
      System.out.printf("groups: %,d refused, %,d harmless%n", refused, harmless);
    }
  }

  @Test
  @Tag("exhaustive")
  void otherBrokenModulesAreRefusedOrHarmless() {
    random = new SplittableRandom(10);
    mutate(1_000);
  }

  private void mutate(int count) {
    for (int tensor : new int[] {1, 2}) {
      for (Guess guess : Guess.values()) {
        List<Outcome> outcomes = outcomes(tensor, guess);
        for (Outcome outcome : outcomes) {
          requireAllowed(outcome.module(), List.of(outcome.allowed().getLast()), "unchanged");
        }
        for (int i = 0; i < count / 4; i++) {
          requireRefusedOrHarmless(outcomes, random.nextLong());
        }
      }
    }
    assertThat(refused).isGreaterThan(count / 4);
    assertThat(harmless).isGreaterThan(count / 50);
  }

  /** Makes the same change in the modules of all outcomes, which the verifier can't tell apart. */
  private void requireRefusedOrHarmless(List<Outcome> outcomes, long seed) {
    List<Module> changed = new ArrayList<>();
    Set<String> changes = new HashSet<>();
    Set<Boolean> accepted = new HashSet<>();
    for (Outcome outcome : outcomes) {
      Mutation mutation = new Mutation(outcome.module(), seed);
      Module module = mutation.run();
      changed.add(module);
      changes.add(mutation.text());
      accepted.add(Verifier.violations(module).isEmpty());
    }
    assertThat(changes).hasSize(1);
    assertThat(accepted).as("%s", changes).hasSize(1);
    if (accepted.contains(false)) {
      refused++;
      return;
    }
    for (int i = 0; i < outcomes.size(); i++) {
      requireAllowed(changed.get(i), outcomes.get(i).allowed(), changes + " of outcome " + i);
    }
    harmless++;
  }

  /**
   * A module in which the blocks accept their approximations or not.
   *
   * @param allowed the outputs if each approximation that is accepted is used or not; in the last
   *     ones, all are used
   */
  private record Outcome(Module module, List<List<Tensor>> allowed) {}

  private List<Outcome> outcomes(int tensor, Guess guess) {
    Module groups = groups(tensor, guess);
    List<Outcome> outcomes = new ArrayList<>();
    for (List<Boolean> accepts : SmallDecoder.OUTCOMES) {
      List<List<Tensor>> allowed =
          SmallDecoder.OUTCOMES.stream()
              .filter(used -> used.equals(both(used, accepts)))
              .map(this::outputs)
              .toList();
      assertThat(allowed).doesNotHaveDuplicates();
      outcomes.add(new Outcome(SmallDecoder.accepting(groups, ALWAYS, accepts), allowed));
    }
    return outcomes;
  }

  private static List<Boolean> both(List<Boolean> left, List<Boolean> right) {
    return IntStream.range(0, left.size()).mapToObj(i -> left.get(i) && right.get(i)).toList();
  }

  private void requireAllowed(Module module, List<List<Tensor>> allowed, String change) {
    List<Tensor> found = MeshEvaluator.run(module, inputs);
    assertThat(allowed)
        .as(change)
        .anyMatch(
            expected -> {
              for (int i = 0; i < expected.size(); i++) {
                for (int j = 0; j < expected.get(i).size(); j++) {
                  if (Math.abs(expected.get(i).getDouble(j) - found.get(i).getDouble(j)) > 2e-5) {
                    return false;
                  }
                }
              }
              return true;
            });
  }

  private static Module groups(int tensor, Guess guess) {
    Module module = SmallDecoder.module();
    Module placed = tensor == 1 ? module : new ShardPass(Strategy.tensor(tensor)).run(module);
    return new SpeculateGroups(new Speculation(ALWAYS, CHUNK, guess)).run(placed);
  }

  /** A token after a full context. */
  private static List<Tensor> inputs() {
    Module module = SmallDecoder.module();
    Map<String, Tensor> given = SmallDecoder.token(SmallDecoder.CAPACITY - 1);
    SplittableRandom random = new SplittableRandom(4);
    SmallDecoder.caches(module)
        .forEach(
            (name, cache) ->
                given.put(
                    name,
                    Tensor.ofDoubles(cache.type(), random.doubles(cache.size(), -1, 1).toArray())));
    return module.graph().inputs().stream().map(Value::name).map(given::get).toList();
  }

  /** The outputs if the blocks accept their approximations or not. */
  private List<Tensor> outputs(List<Boolean> accepts) {
    Module module =
        new SpeculateAttention(new Speculation(ALWAYS, CHUNK), false).run(SmallDecoder.module());
    return Evaluator.run(SmallDecoder.accepting(module, ALWAYS, accepts).graph(), inputs);
  }

  /** One or two random changes of a module. */
  private static final class Mutation {
    private final Module module;
    private final SplittableRandom random;
    private final GraphEditor editor;
    private final List<String> changes = new ArrayList<>();

    Mutation(Module module, long seed) {
      this.module = module;
      this.random = new SplittableRandom(seed);
      this.editor = new GraphEditor(module.graph());
    }

    String text() {
      return String.join(", ", changes);
    }

    Module run() {
      List<Node> nodes = module.graph().nodes().stream().filter(Mutation::isControl).toList();
      int count = random.nextInt(1, 3);
      for (int i = 0; i < count; i++) {
        change(nodes.get(random.nextInt(nodes.size())));
      }
      return module.with(editor.freeze());
    }

    private static boolean isControl(Node node) {
      return switch (node.op()) {
        case Communication.Gate gate -> true;
        case Communication.Fork fork -> true;
        case Communication.Settle settle -> node.operands().size() == 2;
        case Source.Constant(var data) ->
            data.element() == ElementType.BOOL
                || data.element() == ElementType.I32 && data.size() == 1;
        default -> false;
      };
    }

    private void change(Node node) {
      if (!editor.isLive(node)) {
        return;
      }
      editor.before(node);
      List<Value> operands = new ArrayList<>(editor.operands(node));
      Value changed =
          switch (node.op()) {
            case Communication.Gate gate ->
                random.nextBoolean()
                    ? operands.getFirst()
                    : editor.add(gate, operands.getFirst(), other(node, operands.getLast()));
            case Communication.Fork fork -> {
              // The first operand is what the fork means; only words and flags may be exchanged.
              boolean isData = node.result().type().element().isFloat();
              yield switch (random.nextInt(3)) {
                case 0 -> editor.add(fork, operands.get(0), operands.get(0), operands.get(2));
                case 1 -> {
                  Value chosen = other(node, operands.get(2));
                  yield editor.add(fork, operands.get(0), operands.get(1), chosen);
                }
                default ->
                    isData
                        ? operands.getFirst()
                        : editor.add(fork, operands.get(1), operands.get(0), operands.get(2));
              };
            }
            case Communication.Settle settle ->
                editor.add(settle, operands.getFirst(), other(node, operands.getLast()));
            default -> {
              Tensor data = node.constant().orElseThrow();
              int bound = data.element() == ElementType.BOOL ? 2 : 4;
              long[] values = new long[data.size()];
              for (int i = 0; i < values.length; i++) {
                values[i] = random.nextInt(bound);
              }
              yield editor.constant(Tensor.ofLongs(data.type(), values));
            }
          };
      changes.add(node + " " + node.op());
      if (changed != editor.resolve(node.result())) {
        editor.replace(node.result(), changed);
      }
    }

    /** Another value of the same type that is defined before the node. */
    private Value other(Node node, Value value) {
      List<Value> others = new ArrayList<>();
      for (Node before : module.graph().nodes()) {
        if (before == node) {
          break;
        }
        for (Value result : before.results()) {
          if (result.type().equals(value.type()) && editor.isLive(before)) {
            others.add(result);
          }
        }
      }
      return others.isEmpty() ? value : others.get(random.nextInt(others.size()));
    }
  }
}
