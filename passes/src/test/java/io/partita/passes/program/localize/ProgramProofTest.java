package io.partita.passes.program.localize;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Program;
import io.partita.ir.type.ElementType;
import io.partita.passes.program.collective.CollectiveCode;
import io.partita.passes.program.collective.ProgramProof;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that the proof accepts exactly the programs that an exhaustive search finds correct. */
class ProgramProofTest {
  private final Set<CollectiveCode> seen = EnumSet.noneOf(CollectiveCode.class);
  private int accepted;
  private int rejected;

  @Tag("thorough")
  @Test
  void proofsAgreeWithExhaustiveExecution() {
    for (long seed = 0; seed < 3000; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      Mesh mesh = Mesh.line("x", random.nextInt(2, 5));
      int capacity = random.nextInt(3);
      List<List<Exchange>> exchanges;
      try {
        exchanges = exchanges(Localization.of(RandomMeshModules.draw(random, mesh), capacity));
      } catch (PartitaException noLowering) {
        continue;
      }
      for (int mutations = random.nextInt(3); mutations > 0; mutations--) {
        mutate(exchanges, random);
      }
      // Sometimes fewer messages fit than the program was made for.
      requireSameJudgement(seed, exchanges, random.nextInt(capacity + 1));
    }
    assertThat(seen)
        .containsExactlyInAnyOrder(
            CollectiveCode.UNMATCHED, CollectiveCode.MISMATCH, CollectiveCode.DEADLOCK);
    assertThat(accepted).isGreaterThan(500);
    assertThat(rejected).isGreaterThan(500);
  }

  private static List<List<Exchange>> exchanges(Program program) {
    List<List<Exchange>> exchanges = new ArrayList<>();
    for (Module device : program.devices()) {
      List<Exchange> own = new ArrayList<>();
      for (Node node : device.graph().nodes()) {
        if (node.op() instanceof Exchange exchange) {
          own.add(with(exchange, exchange.steps()));
        }
      }
      exchanges.add(own);
    }
    return exchanges;
  }

  /** Replaces the steps, without the exchanged values. */
  private static Exchange with(Exchange exchange, List<Step> steps) {
    return new Exchange(
        exchange.sync(), exchange.elements(), exchange.element(), List.of(), List.of(), steps);
  }

  private static Program program(List<List<Exchange>> exchanges) {
    List<Module> devices = new ArrayList<>();
    for (List<Exchange> own : exchanges) {
      GraphBuilder builder = new GraphBuilder("main").at("sum");
      own.forEach(exchange -> builder.addNode(exchange, List.of()));
      devices.add(new Module(builder.finish()));
    }
    Mesh mesh = Mesh.line("x", exchanges.size());
    return new Program(mesh, devices, new TreeMap<>(), new TreeMap<>());
  }

  private void requireSameJudgement(long seed, List<List<Exchange>> exchanges, int capacity) {
    CollectiveCode code = null;
    try {
      ProgramProof.verify(program(exchanges), capacity);
      accepted++;
    } catch (PartitaException e) {
      code = (CollectiveCode) e.diagnostics().getFirst().code();
      seen.add(code);
      rejected++;
    }
    assertThat(code == null)
        .as("seed %d, capacity %d: %s\n%s", seed, capacity, code, exchanges)
        .isEqualTo(ProgramSimulation.isGood(exchanges, capacity));
  }

  private static void mutate(List<List<Exchange>> exchanges, SplittableRandom random) {
    List<Exchange> device = exchanges.get(random.nextInt(exchanges.size()));
    if (device.isEmpty()) {
      return;
    }
    int at = random.nextInt(device.size());
    Exchange exchange = device.get(at);
    List<Step> steps = new ArrayList<>(exchange.steps());
    switch (random.nextInt(5)) {
      case 0 -> device.remove(at);
      case 1 -> device.add(random.nextInt(device.size()), device.remove(at));
      case 2 -> drop(steps, random);
      case 3 -> swap(steps, random);
      default -> dropEverywhere(exchanges, exchange.sync());
    }
    if (device.size() > at && device.get(at) == exchange) {
      device.set(at, with(exchange, steps));
    }
  }

  private static void drop(List<Step> steps, SplittableRandom random) {
    if (!steps.isEmpty()) {
      steps.remove(random.nextInt(steps.size()));
    }
  }

  private static void swap(List<Step> steps, SplittableRandom random) {
    if (!steps.isEmpty()) {
      steps.add(random.nextInt(steps.size()), steps.remove(random.nextInt(steps.size())));
    }
  }

  private static void dropEverywhere(List<List<Exchange>> exchanges, int sync) {
    exchanges.forEach(device -> device.removeIf(exchange -> exchange.sync() == sync));
  }

  private static Exchange exchange(int sync, Step... steps) {
    return new Exchange(sync, 4, ElementType.I8, List.of(), List.of(), List.of(steps));
  }

  private static Step send(int to) {
    return new Step.Send(to, List.of(new Slice(0, 4)), 4);
  }

  private static Step receive(int from) {
    List<Slice> all = List.of(new Slice(0, 4));
    return new Step.Receive(from, all, 4, io.partita.ir.function.Combine.REPLACE);
  }

  @Test
  void namesDeviceSyncAndStep() {
    List<List<Exchange>> crossed =
        List.of(
            List.of(exchange(0, send(1)), exchange(1, receive(1))),
            List.of(exchange(1, send(0)), exchange(0, receive(0))));
    ProgramProof.verify(program(crossed), 1);
    assertThatThrownBy(() -> ProgramProof.verify(program(crossed), 0))
        .hasMessage(
            """
            error P4104: devices wait for each other in a cycle
              where:     program "main", channels of 0 messages
              expected:  steps that wait for earlier ones only
              found:     device 0 sync 0 "sum" step 0 (send 4 B to 1) waits for device 1 sync 1 "sum" step 0 (send 4 B to 0) waits for device 0 sync 0 "sum" step 0
              fix:       receive before sending on one of these devices, or increase the capacity of channels""");
    List<List<Exchange>> mixed =
        List.of(
            List.of(exchange(0, send(1)), exchange(1, send(1))),
            List.of(exchange(1, receive(0)), exchange(0, receive(0))));
    assertThatThrownBy(() -> ProgramProof.verify(program(mixed), 2))
        .hasMessage(
            """
            error P4103: a receive doesn't match the message that arrives
              where:     program "main", device 1, sync 1 "sum", step 0 (receive 4 B from 0)
              expected:  4 B for [[0, 4)]
              found:     4 B of [[0, 4)] by device 0, sync 0 "sum", step 0
              fix:       receive in the order of the sends""");
  }
}
