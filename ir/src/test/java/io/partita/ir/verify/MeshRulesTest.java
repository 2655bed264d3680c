package io.partita.ir.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Exit;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.Split;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Reduction;
import io.partita.ir.propagate.RandomMeshModules;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MeshRulesTest {
  private static final Mesh MESH = Mesh.line("x", 2);
  private static final Layout WHOLE = Layout.replicated(MESH, 1);
  private static final Layout SPLIT = Layout.of(MESH, Split.even(MESH, 4, "x"));
  private static final Layout VARYING = WHOLE.withVarying(List.of("x"));

  private final GraphBuilder builder = new GraphBuilder("main");
  private final Value x = builder.input("x", TensorType.of(ElementType.F32, 4));

  private void assertViolations(
      Map<String, Layout> inputs, List<Module.State> states, String expected) {
    Module module = new Module(builder.finish(), states, Optional.of(new Placement(MESH, inputs)));
    assertText(module, expected);
  }

  private static void assertText(Module module, String expected) {
    String found =
        Verifier.violations(module).stream()
            .map(Diagnostic::toString)
            .collect(Collectors.joining("\n", "", "\n"));
    assertThat(found).isEqualTo(expected);
  }

  private Value varying(Value value) {
    Value terms = reshard(value, WHOLE.withPartial("x", ReductionKind.SUM));
    return builder.add(new Communication.Localize("x"), terms);
  }

  private Value reshard(Value value, Layout to) {
    return builder.add(new Communication.Reshard(to), value);
  }

  private Value binary(BinaryFunction function, Value left, Value right) {
    return builder.add(new Elementwise.Binary(function), left, right);
  }

  private Value word(long value) {
    return builder.constant(Tensor.scalar(ElementType.I32, value));
  }

  private Value places(long... chosen) {
    return builder.constant(Tensor.ofLongs(TensorType.of(ElementType.BOOL, 2), chosen));
  }

  /** Place 0 continues with x, place 1 with its square if that is accepted. */
  private Value guarded(Value given, Value guess, Value compared) {
    Value sum =
        builder.add(
            new Reduction.Reduce(ReductionKind.SUM, List.of(0), false),
            binary(BinaryFunction.SUB, given, compared));
    Value accepted =
        binary(BinaryFunction.LESS, sum, builder.constant(Tensor.scalar(ElementType.F32, 1)));
    Value word =
        builder.add(
            new Communication.Fork("x"),
            builder.add(new Elementwise.Select(), accepted, word(0), word(2)),
            word(1),
            places(1, 0));
    Value forked = builder.add(new Communication.Fork("x"), given, guess, places(1, 0));
    Value runs = binary(BinaryFunction.GREATER, word, word(0));
    Value gated = builder.add(new Communication.Gate(), forked, runs);
    Value stacked = builder.add(new Communication.Settle("x", new Exit.Stack(2)), word);
    Value all =
        builder.add(
            Communication.Relayout.of(Layout.of(MESH, Split.even(MESH, 2, "x")), WHOLE), stacked);
    Value highest = builder.add(new Reduction.Reduce(ReductionKind.MAX, List.of(0), true), all);
    return settled(
        binary(BinaryFunction.ADD, gated, gated), binary(BinaryFunction.EQUAL, all, highest));
  }

  private Value settled(Value value, Value accepted) {
    Value settled =
        builder.add(new Communication.Settle("x", new Exit.Priority(2)), value, accepted);
    Layout partial = WHOLE.withPartial("x", ReductionKind.SUM);
    return builder.add(Communication.Relayout.of(partial, WHOLE), settled);
  }

  @Test
  void guardedRegionsAreRightForEachOutcome() {
    Value square = binary(BinaryFunction.MUL, x, x);
    builder.output("y", guarded(x, square, square));
    assertViolations(Map.of(), List.of(), "\n");
  }

  @Test
  void guessesAreComparedWithTheirOwnValue() {
    Value square = binary(BinaryFunction.MUL, x, x);
    Value other = binary(BinaryFunction.ADD, x, x);
    builder.output("y", guarded(x, square, other));
    assertViolations(
        Map.of(),
        List.of(),
        """
        error P3114: a guarded region is wrong for some outcome
          where:     output y, device 0
          expected:  a value that is present and verified for all outcomes
          found:     a discarded one for some
          fix:       choose it by settle with the priority of the group that has it
        error P3114: a guarded region is wrong for some outcome
          where:     output y, device 1
          expected:  a value that is present and verified for all outcomes
          found:     a discarded one for some
          fix:       choose it by settle with the priority of the group that has it
        """);
  }

  @Test
  void devicesSkipExchangesTogether() {
    Value own = builder.add(new Communication.Fork("x"), x, x, places(1, 0));
    Value flag =
        builder.add(
            new Communication.Fork("x"),
            builder.constant(Tensor.scalar(ElementType.BOOL, 1)),
            builder.constant(Tensor.scalar(ElementType.BOOL, 0)),
            places(1, 0));
    Value gated = builder.at("half").add(new Communication.Gate(), own, flag);
    Value stacked = builder.add(new Communication.Settle("x", new Exit.Stack(2)), gated);
    Layout split = Layout.of(MESH, Split.even(MESH, 2, "x"), Split.NONE);
    builder.output(
        "y",
        builder
            .at("both")
            .add(Communication.Relayout.of(split, Layout.replicated(MESH, 2)), stacked));
    assertViolations(
        Map.of(),
        List.of(),
        """
        error P3114: a guarded region is wrong for some outcome
          where:     node sync "both"
          expected:  an exchange in which all devices take part, or none
          found:     one that device 0 or a peer skips alone for some outcomes
        error P3114: a guarded region is wrong for some outcome
          where:     node sync "both"
          expected:  an exchange in which all devices take part, or none
          found:     one that device 1 or a peer skips alone for some outcomes
        """);
  }

  @Test
  void outputsAreAssembled() {
    builder.output("partial", reshard(x, WHOLE.withPartial("x", ReductionKind.SUM)));
    builder.output("varying", varying(x));
    builder.output("split", reshard(x, SPLIT));
    assertViolations(
        Map.of(),
        List.of(),
        """
        error P3112: the devices together don't have the whole output
          where:     output partial
          expected:  a layout that is neither partial nor varying
          found:     f32[4] partial(sum: x)
          fix:       add a sync of the output
        error P3112: the devices together don't have the whole output
          where:     output varying
          expected:  a layout that is neither partial nor varying
          found:     f32[4] varying(x)
          fix:       end the variation with settle
        """);
  }

  @Test
  void statesKeepTheirLayout() {
    builder.output("y", x);
    builder.output("z", builder.add(Communication.Relayout.of(SPLIT, WHOLE), x));
    assertViolations(
        Map.of("x", SPLIT),
        List.of(new Module.State("x", "z")),
        """
        error P3113: the input and the output of a state have different layouts
          where:     state x -> z
          expected:  f32[4{x}]
          found:     f32[4]
        """);
  }

  @Test
  void inputsArePlacedAndNotVarying() {
    builder.output("y", x);
    assertViolations(
        Map.of("x", VARYING, "z", SPLIT),
        List.of(),
        """
        error P3111: a placement doesn't fit the inputs
          where:     placement of x
          expected:  a layout that doesn't vary
          found:     [*] varying(x)
        error P3111: a placement doesn't fit the inputs
          where:     placement of z
          expected:  the name of an input
          found:     z
        error P3112: the devices together don't have the whole output
          where:     output y
          expected:  a layout that is neither partial nor varying
          found:     f32[4] varying(x)
          fix:       end the variation with settle
        """);
  }

  @Test
  void layoutsAreDerived() {
    builder.at("probabilities");
    builder.output("y", builder.add(new Reduction.Softmax(0, false), x));
    assertViolations(
        Map.of("x", SPLIT),
        List.of(),
        """
        error P3409: an operation can't take an operand with this layout
          where:     node 0: softmax "probabilities"
          expected:  operand 0 "x" as f32[4]
          found:     f32[4{x}]
          fix:       add a sync of the operand to [*]
        """);
  }

  @Test
  void reshardsNeedAMesh() {
    builder.output("y", reshard(x, SPLIT));
    assertText(
        new Module(builder.finish()),
        """
        error P3410: an operation belongs to another dialect
          where:     node 0: reshard
          expected:  a mesh for the change of layout
          found:     a module without a mesh
        """);
  }

  @Test
  void syncsStateTheirKind() {
    builder.output("gathered", reshard(x, WHOLE));
    SequencedMap<String, SyncKind> reduce = new TreeMap<>(Map.of("x", SyncKind.ALL_REDUCE));
    Communication.Sync sync = new Communication.Sync(reduce, WHOLE, Optional.empty(), Codec.EXACT);
    builder.output("reduced", builder.add(sync, x));
    builder.output(
        "same", builder.add(sync, builder.add(Communication.Relayout.of(SPLIT, WHOLE), x)));
    assertViolations(
        Map.of("x", SPLIT),
        List.of(),
        """
        error P3411: a sync's kind doesn't match its layouts
          where:     node 0: reshard
          expected:  sync of kind all_gather(x)
          found:     reshard
          fix:       it changes f32[4{x}] to [*]
        error P3411: a sync's kind doesn't match its layouts
          where:     node 1: sync
          expected:  sync of kind all_gather(x)
          found:     sync of kind all_reduce(x)
          fix:       it changes f32[4{x}] to [*]
        error P3411: a sync's kind doesn't match its layouts
          where:     node 3: sync
          expected:  reshard
          found:     sync of kind all_reduce(x)
          fix:       it changes f32[4] to [*]
        """);
  }

  @Tag("thorough")
  @Test
  void insertedSyncsKeepTheRules() {
    for (int seed = 0; seed < 300; seed++) {
      assertThat(Verifier.violations(RandomMeshModules.draw(seed))).isEmpty();
    }
  }
}
