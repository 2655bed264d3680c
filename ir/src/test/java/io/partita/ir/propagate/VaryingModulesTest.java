package io.partita.ir.propagate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.PirParser;
import io.partita.ir.text.PirPrinter;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.verify.VaryingDependence;
import io.partita.ir.verify.Verifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares varying values with the parts that each device computes by itself. */
class VaryingModulesTest {
  private static Tensor op(Op op, Tensor... operands) {
    return OpEvaluator.evaluate(op, List.of(operands)).getFirst();
  }

  private static Tensor add(Tensor left, Tensor right) {
    return op(new Elementwise.Binary(BinaryFunction.ADD), left, right);
  }

  private static Tensor linear(Tensor x, Tensor weight) {
    return op(new Structured.Linear(false, false), x, weight);
  }

  /** Returns the part of a dimension of a device when {@code units} are distributed evenly. */
  private static Tensor part(Tensor x, int dim, int device, int devices, long unit) {
    long units = x.type().dim(dim).value() / unit;
    long from = units / devices * device + Math.min(device, units % devices);
    long size = units / devices + (device < units % devices ? 1 : 0);
    List<Dim> starts = new ArrayList<>();
    List<Dim> sizes = new ArrayList<>(x.type().shape().dims());
    sizes.forEach(every -> starts.add(Dim.ZERO));
    starts.set(dim, Dim.of(from * unit));
    sizes.set(dim, Dim.of(size * unit));
    List<Long> steps = sizes.stream().map(every -> 1L).toList();
    return op(new Movement.Slice(starts, sizes, steps), x);
  }

  private static void assertClose(Tensor found, Tensor expected) {
    assertThat(found.type()).isEqualTo(expected.type());
    for (int i = 0; i < found.size(); i++) {
      assertThat(found.getDouble(i)).isCloseTo(expected.getDouble(i), within(2e-6));
    }
  }

  private static Tensor norm(Tensor x, Tensor gain) {
    return op(new Structured.Norm(Structured.NormKind.RMS, 2, 1e-5, true, false), x, gain);
  }

  private static Tensor heads(Tensor x, Tensor weight, Tensor bias, int device, int devices) {
    Tensor own = linear(x, part(weight, 1, device, devices, 2));
    own = bias == null ? own : add(own, part(bias, 0, device, devices, 2));
    Shape shape = Shape.of(1, 3, own.type().dim(2).value() / 2, 2);
    return op(new Movement.Transpose(List.of(0, 2, 1, 3)), op(new Movement.Reshape(shape), own));
  }

  private static Tensor attended(Map<String, Tensor> in, int device, int devices) {
    Tensor x = norm(in.get("x"), in.get("gain1"));
    Tensor q = heads(x, in.get("wq"), in.get("bq"), device, devices);
    Tensor k = heads(x, in.get("wk"), in.get("bk"), device, devices);
    Tensor v = heads(x, in.get("wv"), in.get("bv"), device, devices);
    Tensor mixed = op(new Structured.Attention(0.7, 0, true, Dim.ZERO, 0, false, false), q, k, v);
    Tensor flat =
        op(
            new Movement.Reshape(Shape.of(1, 3, q.type().dim(1).value() * 2)),
            op(new Movement.Transpose(List.of(0, 2, 1, 3)), mixed));
    return linear(flat, part(in.get("wo"), 0, device, devices, 2));
  }

  /**
   * Figure 3 of the sync-point drop paper: X + sum P + b + sum Z(X + P + b), each Z with its own
   * weights.
   */
  private static Tensor dropped(Map<String, Tensor> in, boolean isBiased, int devices) {
    Tensor sum = in.get("x");
    sum = isBiased ? add(add(sum, in.get("bo")), in.get("bdown")) : sum;
    for (int device = 0; device < devices; device++) {
      Tensor p = attended(in, device, devices);
      Tensor own = add(in.get("x"), isBiased ? add(p, in.get("bo")) : p);
      Tensor x = norm(own, in.get("gain2"));
      Tensor hidden = linear(x, part(in.get("up"), 1, device, devices, 1));
      if (isBiased) {
        hidden =
            op(
                new Elementwise.Unary(UnaryFunction.RELU),
                add(hidden, part(in.get("bup"), 0, device, devices, 1)));
      } else {
        Tensor gate = linear(x, part(in.get("gate"), 1, device, devices, 1));
        gate = op(new Elementwise.Unary(UnaryFunction.SILU), gate);
        hidden = op(new Elementwise.Binary(BinaryFunction.MUL), gate, hidden);
      }
      Tensor z = linear(hidden, part(in.get("down"), 0, device, devices, 1));
      sum = add(add(sum, p), z);
    }
    return sum;
  }

  @ParameterizedTest
  @CsvSource({"2,false", "3,false", "4,false", "2,true", "3,true", "4,true"})
  void eachNetworkReadsTheAttentionOfItsDevice(int devices, boolean isBiased) {
    Module module = VaryingModules.block(devices, isBiased);
    assertThat(PirParser.parse(PirPrinter.print(module))).isEqualTo(module);
    SequencedMap<String, Tensor> inputs = VaryingModules.inputs(module, devices);
    Tensor found = VaryingModules.evaluate(module, inputs).get("y");
    assertClose(found, dropped(inputs, isBiased, devices));
    Tensor exact = dropped(inputs, isBiased, 1);
    assertThat(found.getDouble(5)).isNotCloseTo(exact.getDouble(5), within(1e-3));
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void classTokensAreAveraged(int devices) {
    Module module = VaryingModules.classToken(devices);
    assertThat(PirParser.parse(PirPrinter.print(module))).isEqualTo(module);
    SequencedMap<String, Tensor> in = VaryingModules.inputs(module, devices);
    Map<String, Tensor> found = VaryingModules.evaluate(module, in);
    Tensor codes = found.get("codes");
    Tensor decoded = op(new Movement.Gather(0), in.get("codebook"), codes);
    Tensor mean = null;
    for (int device = 0; device < devices; device++) {
      List<Tensor> rows = new ArrayList<>();
      for (int other = 0; other < devices; other++) {
        rows.add(part(other == device ? in.get("tokens") : decoded, 0, other, devices, 1));
      }
      Tensor view = op(new Movement.Concat(0), rows.toArray(Tensor[]::new));
      Tensor k = op(new Movement.Reshape(Shape.of(1, 1, 7, 4)), linear(view, in.get("wk")));
      Tensor v = op(new Movement.Reshape(Shape.of(1, 1, 7, 4)), linear(view, in.get("wv")));
      Tensor token =
          op(
              new Structured.Attention(0.5, 0, false, Dim.ZERO, 0, false, false),
              in.get("class"),
              k,
              v);
      Tensor share =
          op(
              new Elementwise.Binary(BinaryFunction.DIV),
              token,
              Tensor.scalar(ElementType.F32, devices));
      mean = mean == null ? share : add(mean, share);
    }
    assertClose(found.get("y"), mean);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void everyExitOfAVariation(int devices) {
    Module module = VaryingModules.exits(devices);
    assertThat(PirParser.parse(PirPrinter.print(module))).isEqualTo(module);
    for (int seed = 0; seed < 8; seed++) {
      verifyExits(module, VaryingModules.inputs(module, seed), devices);
    }
  }

  private static void verifyExits(Module module, SequencedMap<String, Tensor> in, int devices) {
    Map<String, Tensor> found = VaryingModules.evaluate(module, in);
    List<Tensor> versions = new ArrayList<>();
    List<Tensor> rows = new ArrayList<>();
    List<Tensor> parts = new ArrayList<>();
    Tensor sum = null;
    int first = -1;
    for (int device = 0; device < devices; device++) {
      Tensor version =
          op(
              new Contraction.MatMul(ElementType.F32),
              part(in.get("a"), 1, device, devices, 1),
              part(in.get("b"), 0, device, devices, 1));
      versions.add(version);
      rows.add(op(new Movement.Reshape(Shape.of(1, 3, 6)), version));
      parts.add(part(linear(version, in.get("w")), 1, device, devices, 1));
      Tensor positive = op(new Elementwise.Unary(UnaryFunction.RELU), version);
      sum = sum == null ? positive : add(sum, positive);
      boolean isAccepted = found.get("accepted").getDouble(device) != 0;
      first = first < 0 && isAccepted ? device : first;
    }
    assertThat(found.get("last")).isEqualTo(versions.getLast());
    assertThat(found.get("first")).isEqualTo(versions.get(first < 0 ? devices - 1 : first));
    assertThat(found.get("all")).isEqualTo(op(new Movement.Concat(0), rows.toArray(Tensor[]::new)));
    assertClose(found.get("parts"), op(new Movement.Concat(1), parts.toArray(Tensor[]::new)));
    assertClose(found.get("sum"), sum);
    Tensor total = versions.stream().reduce(VaryingModulesTest::add).orElseThrow();
    Tensor count = Tensor.scalar(ElementType.F32, devices);
    assertClose(found.get("mean"), op(new Elementwise.Binary(BinaryFunction.DIV), total, count));
  }

  @Test
  void outputsNameTheVaryingValuesOnWhichTheyDepend() {
    assertThat(VaryingDependence.of(VaryingModules.block(2, true)))
        .extracting(Object::toString)
        .containsExactly(
            "output \"y\" depends on values that vary over x: from localize, ended by settle by"
                + " term");
    assertThat(VaryingDependence.of(VaryingModules.classToken(2)))
        .extracting(Object::toString)
        .containsExactly(
            "output \"y\" depends on values that vary over x: from overlay, ended by settle by"
                + " average");
    assertThat(VaryingDependence.of(VaryingModules.exits(2)).stream().map(Object::toString))
        .contains(
            "output \"first\" depends on values that vary over x: from localize, ended by settle by"
                + " priority(2) and settle by stack(2)");
    assertThat(VaryingDependence.of(VaryingModules.joinedBlock(2, true))).isEmpty();
  }

  /** Compares derived layouts, given only those of the inputs, with the expected ones. */
  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void layoutsAreDerivedWithoutAnnotations(int devices) {
    for (Module written : VaryingModules.all(devices)) {
      GraphEditor editor = new GraphEditor(written.graph());
      for (Node node : written.graph().nodes()) {
        if (node.op() instanceof Communication.Relayout) {
          editor.replace(node.result(), editor.operand(node, 0));
        }
      }
      Graph plain = editor.freeze();
      Placement placement = written.placement().orElseThrow();
      Map<Value, Layout> pinned = new HashMap<>();
      plain.inputs().forEach(input -> pinned.put(input, placement.layout(input)));
      LayoutPlan plan = LayoutPropagation.run(plain, placement.mesh(), pinned);
      Module found = SyncInsertion.insert(plan, List.of());
      Verifier.verify(found);
      // An output may stay split or at one place.
      assertThat(syncs(found)).isLessThanOrEqualTo(syncs(written));
      SequencedMap<String, Tensor> inputs = VaryingModules.inputs(written, devices);
      CloseTensors.verify(
          MeshEvaluator.run(found, List.copyOf(inputs.values())),
          MeshEvaluator.run(written, List.copyOf(inputs.values())));
    }
  }

  /** Tests that random modules with varying values have the same results. */
  @Tag("thorough")
  @Test
  void variationsThatEndAtOnceChangeNothing() {
    int compared = 0;
    for (int seed = 0; seed < 300; seed++) {
      Module module = RandomMeshModules.draw(seed);
      Module varying = RandomMeshModules.varying(module, seed);
      Verifier.verify(varying);
      assertThat(PirParser.parse(PirPrinter.print(varying))).isEqualTo(varying);
      List<Tensor> inputs = List.copyOf(VaryingModules.inputs(module, seed).values());
      List<Tensor> expected;
      try {
        expected = MeshEvaluator.run(module, inputs);
      } catch (PartitaException indices) {
        continue; // drawn indices are out of range
      }
      CloseTensors.verify(MeshEvaluator.run(varying, inputs), expected);
      compared += varying.equals(module) ? 0 : 1;
    }
    assertThat(compared).isGreaterThan(100);
  }

  private static long syncs(Module module) {
    return module.graph().nodes().stream()
        .filter(node -> node.op() instanceof Communication.Sync)
        .count();
  }

  private static void assertRefused(String lines, String... messages) {
    String text =
        """
        pir 1
        module {
          mesh(x=2, y=2)
          graph @main(%a: f32[4,6{x}], %b: f32[6{x},4], %c: f32[4], %t: f32[4{x},4]) -> ("y": f32[4,4]) {
            %0 = matmul(%a, %b) {result = f32} : f32[4,4] partial(sum: x)
            %1 = localize(%0) {axis = "x"} : f32[4,4] varying(x)
            LINES
            %99 = sync(%0) {kind = "all_reduce(x)", to = "[*,*]"} : f32[4,4]
            return %99
          }
        }
        """
            .replace("LINES", lines);
    assertThatThrownBy(() -> PirParser.parse(text))
        .isInstanceOf(PartitaException.class)
        .satisfies(e -> assertThat(e.getMessage()).contains(messages));
  }

  @Test
  void syncsDontEndVariations() {
    assertRefused(
        "%2 = sync(%1) {kind = \"all_reduce(x)\", to = \"[*,*]\"} : f32[4,4]",
        "expected:  a layout that f32[4,4] varying(x) can change to",
        "found:     f32[4,4]",
        "fix:       end the variation over x by settle");
  }

  @Test
  void reshardsDontBeginVariations() {
    assertRefused(
        "%2 = reshard(%0) {to = \"[*,*] varying(x)\"} : f32[4,4] varying(x)",
        "expected:  a layout that f32[4,4] partial(sum: x) can change to");
  }

  @Test
  void termsOfOtherDevicesAreUnavailable() {
    assertRefused(
        "%2 = matmul(%1, %a) {result = f32} : f32[4,6{x}] varying(x)\n"
            + "%3 = matmul(%2, %b) {result = f32} : f32[4,4] partial(sum: x) varying(x)\n"
            + "%4 = relu(%3) : f32[4,4] varying(x)",
        "expected:  operand 0 as f32[4,4] varying(x)",
        "found:     f32[4,4] partial(sum: x) varying(x)",
        "fix:       end the variation first: settle {axis = \"x\", by = \"term\"}");
    assertRefused(
        "%2 = matmul(%1, %a) {result = f32} : f32[4,6{x}] varying(x)\n"
            + "%3 = softmax(%2) {axis = 1} : f32[4,6] varying(x)",
        "expected:  operand 0 as f32[4,6] varying(x)",
        "fix:       end the variation first: settle {axis = \"x\", by = \"part\"}");
  }

  @Test
  void versionsAreTermsOnlyAfterSettle() {
    assertRefused(
        "%2 = add(%0, %1) : f32[4,4] varying(x)",
        "expected:  operand 0 as f32[4,4]", "found:     f32[4,4] partial(sum: x)");
  }

  @Test
  void onlyTermsOfSumsAreLocalized() {
    assertRefused(
        "%2 = localize(%c) {axis = \"x\"} : f32[4] varying(x)",
        "expected:  a value that is partial over x and doesn't vary", "found:     [*]");
    assertRefused(
        "%2 = localize(%0) {axis = \"z\"} : f32[4,4]", "expected:  an axis of mesh(x=2, y=2)");
  }

  @Test
  void onlyLocalPartsAreOverlaid() {
    assertRefused("%2 = overlay(%99, %t) {axis = \"x\", dim = 0} : f32[4,4] varying(x)", "%99");
    String whole = "%2 = sync(%t) {kind = \"all_gather(x)\", to = \"[*,*]\"} : f32[4,4]\n";
    assertRefused(
        whole + "%3 = overlay(%2, %t) {axis = \"x\", dim = 1} : f32[4,4] varying(x)",
        "expected:  dimension 1 of operand 1 split over x",
        "found:     [*{x},*]");
    assertRefused(
        whole + "%3 = overlay(%1, %t) {axis = \"x\", dim = 0} : f32[4,4] varying(x)",
        "expected:  operand 0 as [*,*]",
        "found:     [*,*] varying(x)");
    assertRefused(
        whole + "%3 = overlay(%2, %t) {axis = \"x\", dim = 2} : f32[4,4] varying(x)",
        "a tensor with dimension 2");
  }

  @Test
  void exitsNeedAVariation() {
    assertRefused(
        "%2 = settle(%0) {axis = \"x\", by = \"term\"} : f32[4,4] partial(sum: x)",
        "expected:  a value that varies over x", "found:     [*,*] partial(sum: x)");
    assertRefused(
        "%2 = settle(%1) {axis = \"y\", by = \"term\"} : f32[4,4] partial(sum: y)",
        "expected:  a value that varies over y");
    assertRefused(
        "%2 = settle(%1) {axis = \"x\", by = \"take(2)\"} : f32[4,4] at(x: 2)",
        "expected:  a place on axis x", "found:     2");
    assertRefused(
        "%2 = settle(%1) {axis = \"x\", by = \"part\"} : f32[4,4]",
        "expected:  a value that is split over x");
    assertRefused(
        "%2 = settle(%1) {axis = \"x\", by = \"stack(3)\"} : f32[3{x},4,4]",
        "expected:  2 devices along x", "found:     3");
    assertRefused(
        "%2 = settle(%1) {axis = \"x\", by = \"median\"} : f32[4,4]",
        "expected:  by = take(0) or another place, average, term, part, stack(2) or priority(2)");
    String split = "%2 = matmul(%1, %a) {result = f32} : f32[4,6{x}] varying(x)\n";
    assertRefused(
        split + "%3 = settle(%2) {axis = \"x\", by = \"average\"} : f32[4,6] partial(sum: x)",
        "expected:  a value that is whole on each device along x",
        "fix:       write by = \"part\"");
    assertRefused(
        split + "%3 = settle(%2) {axis = \"x\", by = \"term\"} : f32[4,6] partial(sum: x)",
        "expected:  a value that isn't split over x");
  }

  @Test
  void booleansHaveNoMean() {
    String flags = "%2 = greater(%1, %c) : bool[4,4] varying(x)\n";
    assertRefused(
        flags + "%3 = settle(%2) {axis = \"x\", by = \"average\"} : bool[4,4] partial(sum: x)",
        "elements that settle by average takes");
    assertRefused(
        flags + "%3 = settle(%1, %2) {axis = \"x\", by = \"priority(2)\"} : f32[4,4]", "bool[2]");
  }
}
