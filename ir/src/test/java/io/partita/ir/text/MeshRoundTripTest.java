package io.partita.ir.text;

import io.partita.ir.arbitrary.Draw;
import io.partita.ir.function.Combine;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.RandomMeshModules;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.Tag;

/** Tests that parsing inverts printing on modules of the mesh and program dialects. */
class MeshRoundTripTest {
  @Property(seed = "1", tries = 500, shrinking = ShrinkingMode.OFF)
  void parseUndoesPrint(@ForAll long seed) {
    PirRoundTripTest.requireRoundTrip(RandomMeshModules.draw(seed));
  }

  @Property(seed = "3", tries = 400, shrinking = ShrinkingMode.OFF)
  void mutatedTextIsParsedOrDiagnosed(@ForAll long seed) {
    PirRoundTripTest.requireReadOrDiagnosed(RandomMeshModules.draw(seed), new Draw(~seed));
  }

  @Property(seed = "13", tries = 2000, shrinking = ShrinkingMode.OFF)
  @Tag("thorough")
  void moreMutatedTextIsParsedOrDiagnosed(@ForAll long seed) {
    mutatedTextIsParsedOrDiagnosed(seed);
  }

  @Property(seed = "4", tries = 300, shrinking = ShrinkingMode.OFF)
  void parseUndoesPrintOfExchanges(@ForAll long seed) {
    PirRoundTripTest.requireRoundTrip(exchanges(new Draw(seed)));
  }

  @Property(seed = "5", tries = 1000, shrinking = ShrinkingMode.OFF)
  void mutatedExchangesAreParsedOrDiagnosed(@ForAll long seed) {
    PirRoundTripTest.requireReadOrDiagnosed(exchanges(new Draw(seed)), new Draw(~seed));
  }

  private static Module exchanges(Draw draw) {
    GraphBuilder builder = new GraphBuilder(draw.name());
    for (int i = draw.from(1, 4); i > 0; i--) {
      ElementType element = draw.element();
      List<Slice> before = slices(draw);
      List<Value> operands = new ArrayList<>();
      if (!before.isEmpty()) {
        long size = Slice.elements(before);
        operands.add(builder.input("x" + i, TensorType.of(element, size)));
      }
      Value result =
          builder.add(
              new Communication.Exchange(
                  draw.from(0, 9), draw.from(0, 99), element, before, slices(draw), steps(draw)),
              operands);
      builder.output("y" + i, result);
    }
    return new Module(builder.finish());
  }

  private static List<Slice> slices(Draw draw) {
    List<Slice> slices = new ArrayList<>();
    for (int i = draw.from(0, 3); i > 0; i--) {
      slices.add(new Slice(draw.from(0, 64), draw.from(0, 64)));
    }
    return slices;
  }

  private static List<Step> steps(Draw draw) {
    List<Step> steps = new ArrayList<>();
    for (int i = draw.from(0, 5); i > 0; i--) {
      int peer = draw.from(0, 63);
      long bytes = draw.from(0, 1 << 30);
      List<Slice> slices = slices(draw);
      steps.add(
          draw.flag()
              ? new Step.Send(peer, slices, bytes)
              : new Step.Receive(peer, slices, bytes, draw.one(Combine.values())));
    }
    return steps;
  }
}
