package io.partita.passes.mesh.speculate;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.message.Step.Receive;
import io.partita.ir.message.Step.Send;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.op.Op;
import io.partita.ir.program.Program;
import io.partita.ir.program.ProgramEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.graph.speculate.Speculation;
import io.partita.passes.graph.speculate.Speculation.Guess;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.CollectiveKind;
import io.partita.passes.program.collective.ProgramProof;
import io.partita.passes.program.collective.Schedule;
import io.partita.passes.program.collective.ScheduleProof;
import io.partita.passes.program.localize.Localization;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Swaps, drops and redirects messages of devices that speculate in two groups, with and without
 * tensor parallelism in each. The proofs of messages and of collectives refuse each such program,
 * or it computes what it did before, for hits and misses of each block.
 */
class MutatedMessagesTest {
  private static final int CAPACITY = 1;
  private static final int CHUNK = 4;
  private static final int TOKENS = 12;
  private static final double ALWAYS = 1000;

  private SplittableRandom random = new SplittableRandom(21);
  private int refused;
  private int harmless;

  @Test
  void swappedMessagesAreRefusedOrHarmless() {
    mutate(20);
  }

  /**
   * {@code -Dmutations=N} tries another number and prints what became of them, {@code
   * -Dmutations.seed=S} other ones; 10,000 take several minutes.
   */
  @Test
  @Tag("thorough")
  void manySwappedMessagesAreRefusedOrHarmless() {
    random = new SplittableRandom(Long.getLong("mutations.seed", 21));
    Integer given = Integer.getInteger("mutations");
    mutate(given == null ? 150 : given);
    if (given != null) {
      System.out.printf("messages: %,d refused, %,d harmless%n", refused, harmless);
    }
  }

  @Test
  @Tag("exhaustive")
  void otherSwappedMessagesAreRefusedOrHarmless() {
    random = new SplittableRandom(22);
    mutate(1_000);
  }

  private void mutate(int count) {
    for (int chips : new int[] {2, 4}) {
      for (Guess guess : Guess.values()) {
        mutate(count / 4, programs(chips, guess));
      }
    }
    assertThat(refused).isGreaterThan(count / 4);
    assertThat(harmless).isGreaterThan(count / 100);
  }

  private void mutate(int count, List<Program> outcomes) {
    List<List<Tensor>> outputs = outcomes.stream().map(MutatedMessagesTest::run).toList();
    assertThat(outputs).doesNotHaveDuplicates();
    Program original = outcomes.getFirst();
    verify(original, original);
    for (int i = 0; i < count; i++) {
      long seed = random.nextLong();
      try {
        verify(original, new Mutation(original, seed).run());
      } catch (PartitaException refusal) {
        refused++;
        continue;
      }
      for (int outcome = 0; outcome < outcomes.size(); outcome++) {
        assertThat(run(new Mutation(outcomes.get(outcome), seed).run()))
            .as("seed %d, outcome %d", seed, outcome)
            .isEqualTo(outputs.get(outcome));
      }
      harmless++;
    }
  }

  /** A program for each outcome; their messages are the same. */
  private static List<Program> programs(int chips, Guess guess) {
    SpeculateGroups pass =
        new SpeculateGroups(new Speculation(ALWAYS, CHUNK, guess), OptionalLong.of(chips));
    Module groups = pass.run(SmallDecoder.module());
    return SmallDecoder.OUTCOMES.stream()
        .map(accepts -> SmallDecoder.accepting(groups, ALWAYS, accepts))
        .map(module -> Localization.of(module, CAPACITY))
        .toList();
  }

  /** The outputs of some tokens. */
  private static List<Tensor> run(Program program) {
    ProgramEvaluator evaluator = new ProgramEvaluator(program, CAPACITY);
    List<Tensor> outputs = new ArrayList<>();
    for (int position = 0; position < TOKENS; position++) {
      outputs.add(evaluator.run(SmallDecoder.token(position)).get("y"));
    }
    return outputs;
  }

  /**
   * Proves that all messages match, and that each exchange still computes its collective.
   *
   * @param original the program that says which collectives they are
   */
  private static void verify(Program original, Program program) {
    ProgramProof.verify(program, CAPACITY);
    SortedMap<Integer, SortedMap<Integer, Exchange>> before = exchanges(original);
    exchanges(program)
        .forEach(
            (sync, devices) -> {
              List<Integer> left = new ArrayList<>(devices.keySet());
              while (!left.isEmpty()) {
                List<Integer> group = group(before.get(sync), left.getFirst());
                left.removeAll(group);
                ScheduleProof.verify(schedule(before.get(sync), devices, group), CAPACITY);
              }
            });
  }

  private static SortedMap<Integer, SortedMap<Integer, Exchange>> exchanges(Program program) {
    SortedMap<Integer, SortedMap<Integer, Exchange>> exchanges = new TreeMap<>();
    for (int device = 0; device < program.devices().size(); device++) {
      for (Node node : program.devices().get(device).graph().nodes()) {
        if (node.op() instanceof Exchange exchange) {
          exchanges.computeIfAbsent(exchange.sync(), key -> new TreeMap<>()).put(device, exchange);
        }
      }
    }
    return exchanges;
  }

  /** The devices that exchange with each other. */
  private static List<Integer> group(SortedMap<Integer, Exchange> devices, int first) {
    SortedSet<Integer> group = new TreeSet<>(List.of(first));
    int size = 0;
    while (group.size() > size) {
      size = group.size();
      for (int device : List.copyOf(group)) {
        devices.get(device).steps().forEach(step -> group.add(step.peer()));
      }
    }
    return List.copyOf(group);
  }

  private static Schedule schedule(
      SortedMap<Integer, Exchange> original,
      SortedMap<Integer, Exchange> changed,
      List<Integer> group) {
    Exchange first = original.get(group.getFirst());
    boolean isSum = first.before().equals(List.of(new Slice(0, first.elements())));
    List<Long> parts = new ArrayList<>();
    for (int device : group) {
      long size = Slice.elements(original.get(device).before());
      parts.add(isSum ? 0 : size);
    }
    if (isSum) {
      parts.set(0, first.elements());
    }
    Collective collective =
        new Collective(
            isSum ? CollectiveKind.ALL_REDUCE : CollectiveKind.ALL_GATHER,
            group.size(),
            0,
            parts,
            first.element(),
            isSum ? Combine.ADD : Combine.REPLACE);
    List<List<Step>> steps = new ArrayList<>();
    for (int device : group) {
      steps.add(
          changed.get(device).steps().stream()
              .map(step -> to(step, group.indexOf(step.peer())))
              .toList());
    }
    return new Schedule(collective, steps);
  }

  private static Step to(Step step, int peer) {
    return switch (step) {
      case Send send -> new Send(peer, send.slices(), send.bytes());
      case Receive receive ->
          new Receive(peer, receive.slices(), receive.bytes(), receive.combine());
    };
  }

  /** One or two random changes of the messages of a program. */
  private static final class Mutation {
    private final Program program;
    private final SplittableRandom random;

    Mutation(Program program, long seed) {
      this.program = program;
      this.random = new SplittableRandom(seed);
    }

    Program run() {
      List<Module> devices = new ArrayList<>(program.devices());
      int count = random.nextInt(1, 3);
      for (int i = 0; i < count; i++) {
        int device = random.nextInt(devices.size());
        devices.set(device, changed(devices.get(device)));
      }
      return new Program(program.mesh(), devices, program.inputs(), program.outputs());
    }

    private Module changed(Module module) {
      List<Node> exchanges =
          module.graph().nodes().stream().filter(node -> node.op() instanceof Exchange).toList();
      Node one = exchanges.get(random.nextInt(exchanges.size()));
      Node other = random.nextBoolean() ? one : exchanges.get(random.nextInt(exchanges.size()));
      List<Step> first = new ArrayList<>(((Exchange) one.op()).steps());
      List<Step> second = one == other ? first : new ArrayList<>(((Exchange) other.op()).steps());
      int i = random.nextInt(first.size());
      int j = random.nextInt(second.size());
      switch (random.nextInt(4)) {
        // Two messages change places, their peers, or what they carry; or one is dropped.
        case 0 -> {
          Step step = first.get(i);
          first.set(i, second.get(j));
          second.set(j, step);
        }
        case 1 -> {
          int peer = first.get(i).peer();
          first.set(i, to(first.get(i), second.get(j).peer()));
          second.set(j, to(second.get(j), peer));
        }
        case 2 -> {
          List<Slice> slices = first.get(i).slices();
          long bytes = first.get(i).bytes();
          first.set(i, of(first.get(i), second.get(j).slices(), second.get(j).bytes()));
          second.set(j, of(second.get(j), slices, bytes));
        }
        default -> {
          if (first.size() > 1) {
            first.remove(i);
          } else {
            Collections.reverse(second);
          }
        }
      }
      return module.with(
          with(
              module.graph(),
              one == other ? Map.of(one, first) : Map.of(one, first, other, second)));
    }

    private static Step of(Step step, List<Slice> slices, long bytes) {
      return switch (step) {
        case Send send -> new Send(send.to(), slices, bytes);
        case Receive receive -> new Receive(receive.from(), slices, bytes, receive.combine());
      };
    }

    /** A copy of a graph in which exchanges have other steps. */
    private static Graph with(Graph graph, Map<Node, List<Step>> steps) {
      GraphBuilder builder = new GraphBuilder(graph.name());
      Map<Value, Value> copies = new IdentityHashMap<>();
      for (Value input : graph.inputs()) {
        copies.put(input, builder.input(input.name(), input.type()));
      }
      for (Node node : graph.nodes()) {
        List<Value> operands = node.operands().stream().map(copies::get).toList();
        Node copy = builder.at(node).addNode(op(node, steps), operands);
        for (int i = 0; i < copy.results().size(); i++) {
          copies.put(node.results().get(i), copy.results().get(i));
        }
      }
      graph.outputs().forEach(out -> builder.output(out.name(), copies.get(out.value())));
      return builder.finish();
    }

    private static Op op(Node node, Map<Node, List<Step>> steps) {
      return node.op() instanceof Exchange old && steps.containsKey(node)
          ? new Exchange(
              old.sync(), old.elements(), old.element(), old.before(), old.after(), steps.get(node))
          : node.op();
    }
  }
}
