package io.partita.frontend.onnx;

import ai.onnx.proto.OnnxMl.GraphProto;
import ai.onnx.proto.OnnxMl.ValueInfoProto;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/** Unrolls Loop and Scan with a known number of iterations. */
final class Loops {
  private static final String UNROLL = "unroll the loop when exporting";

  private final ModelImport model;
  private final NodeImport scope;
  private final ControlFlow flow;

  Loops(ModelImport model, NodeImport scope, ControlFlow flow) {
    this.model = model;
    this.scope = scope;
    this.flow = flow;
  }

  /**
   * Body inputs: iteration, condition, carried values; outputs: condition, carried and scanned
   * values.
   */
  void importLoop() {
    GraphProto body = flow.graph("body");
    int carried = Math.max(0, scope.inputs() - 2);
    int scanned = body.getOutputCount() - 1 - carried;
    if (scanned < 0) {
      throw scope.invalid(
          "a body with an output for each carried value", body.getOutputCount() + "");
    }
    // Without a trip count the condition ends the loop; iterations are limited in either case.
    long turns = scope.has(0) ? scope.integerOperand(0) : Long.MAX_VALUE;
    Tensor yes = Tensor.scalar(ElementType.BOOL, 1);
    boolean runs = !scope.has(1) || scope.data(1).getBoolean(0);
    List<NameScope.Binding> state = new ArrayList<>();
    for (int i = 0; i < carried; i++) {
      state.add(scope.binding(i + 2));
    }
    List<List<Value>> scans = lists(scanned);
    for (long turn = 0; turn < turns && runs; turn++) {
      model.countNode(scope);
      List<NameScope.Binding> arguments = new ArrayList<>();
      arguments.add(new NameScope.Given(scope.constant(Tensor.longs(Shape.SCALAR, turn))));
      arguments.add(new NameScope.Given(scope.constant(yes)));
      arguments.addAll(state);
      List<NameScope.Binding> results = flow.run(body, arguments);
      if (results.getFirst() instanceof NameScope.Unknown) {
        return;
      }
      runs = goesOn(results.getFirst());
      state = results.subList(1, 1 + carried);
      keep(results.subList(1 + carried, results.size()), scans);
    }
    flow.bind(state);
    for (int i = 0; i < scanned; i++) {
      bindScan(carried + i, scans.get(i), body.getOutput(1 + carried + i), 0, false);
    }
  }

  private static List<List<Value>> lists(int count) {
    return IntStream.range(0, count).<List<Value>>mapToObj(i -> new ArrayList<>()).toList();
  }

  private static void keep(List<NameScope.Binding> results, List<List<Value>> scans) {
    for (int i = 0; i < scans.size(); i++) {
      if (results.get(i) instanceof NameScope.Given(Value value)) {
        scans.get(i).add(value);
      }
    }
  }

  private boolean goesOn(NameScope.Binding condition) {
    Optional<List<Dim>> known =
        condition instanceof NameScope.Given(Value value)
            ? model.builder().dims(value)
            : Optional.empty();
    if (known.isEmpty() || known.get().size() != 1) {
      throw scope.unsupported("a loop with a computed number of iterations", UNROLL);
    }
    return !known.get().getFirst().is(0);
  }

  /** Stacks the results of all iterations along a new axis. */
  private void bindScan(
      int output, List<Value> rows, ValueInfoProto declared, long axis, boolean isReversed) {
    if (!scope.wants(output)) {
      return;
    }
    if (rows.isEmpty()) {
      throw scope.unsupported(
          "a scan output " + declared.getName() + " without iterations", "remove the loop");
    }
    List<Value> parts = new ArrayList<>();
    int place = scope.axis(axis, rows.getFirst().type().rank() + 1);
    for (Value row : isReversed ? rows.reversed() : rows) {
      List<Dim> dims = new ArrayList<>(row.type().shape().dims());
      dims.add(place, Dim.ONE);
      parts.add(scope.add(new Movement.Reshape(new Shape(dims)), row));
    }
    scope.output(output, scope.add(new Movement.Concat(place), parts));
  }

  /** Body inputs: carried values and an element of each scanned operand; outputs likewise. */
  void importScan() {
    if (scope.opset() < 9) {
      throw scope.unsupported("Scan of operator set 8", "export with opset_version=9 or newer");
    }
    GraphProto body = flow.graph("body");
    int scanned = Math.toIntExact(scope.integer("num_scan_inputs"));
    int carried = scope.inputs() - scanned;
    int outputs = body.getOutputCount() - carried;
    if (scanned < 1 || carried < 0 || outputs < 0) {
      throw scope.invalid("from 1 to " + scope.inputs() + " scanned operands", scanned + "");
    }
    List<Long> inputAxes = perScan("scan_input_axes", scanned);
    List<Long> inputsReversed = perScan("scan_input_directions", scanned);
    List<Long> outputAxes = perScan("scan_output_axes", outputs);
    List<Long> outputsReversed = perScan("scan_output_directions", outputs);
    List<NameScope.Binding> state = new ArrayList<>();
    for (int i = 0; i < carried; i++) {
      state.add(scope.binding(i));
    }
    long turns = turns(carried, inputAxes);
    List<List<Value>> scans = lists(outputs);
    for (long turn = 0; turn < turns; turn++) {
      model.countNode(scope);
      List<NameScope.Binding> arguments = new ArrayList<>(state);
      for (int i = 0; i < scanned; i++) {
        long at = inputsReversed.get(i) == 0 ? turn : turns - 1 - turn;
        Value element = element(scope.input(carried + i), inputAxes.get(i), at);
        arguments.add(new NameScope.Given(element));
      }
      List<NameScope.Binding> results = flow.run(body, arguments);
      state = results.subList(0, carried);
      keep(results.subList(carried, results.size()), scans);
    }
    flow.bind(state);
    for (int i = 0; i < outputs; i++) {
      ValueInfoProto declared = body.getOutput(carried + i);
      boolean isReversed = outputsReversed.get(i) != 0;
      bindScan(carried + i, scans.get(i), declared, outputAxes.get(i), isReversed);
    }
  }

  private List<Long> perScan(String attribute, int count) {
    List<Long> values = scope.integers(attribute, Collections.nCopies(count, 0L));
    if (values.size() != count) {
      throw scope.invalid(count + " numbers in " + attribute, values.size() + "");
    }
    return values;
  }

  private long turns(int carried, List<Long> axes) {
    Value first = scope.input(carried);
    Dim turns = first.type().dim(scope.axis(axes.getFirst(), first.type().rank()));
    for (int i = 1; i < axes.size(); i++) {
      Value other = scope.input(carried + i);
      scope.equate(turns, other.type().dim(scope.axis(axes.get(i), other.type().rank())));
    }
    return scope.number(turns);
  }

  private Value element(Value x, long scanAxis, long at) {
    int rank = x.type().rank();
    int axis = scope.axis(scanAxis, rank);
    List<Dim> starts = new ArrayList<>(Collections.nCopies(rank, Dim.ZERO));
    starts.set(axis, Dim.of(at));
    List<Dim> sizes = new ArrayList<>(x.type().shape().dims());
    sizes.set(axis, Dim.ONE);
    Value part = scope.add(new Movement.Slice(starts, sizes, Collections.nCopies(rank, 1L)), x);
    sizes.remove(axis);
    return scope.add(new Movement.Reshape(new Shape(sizes)), part);
  }
}
