package io.partita.backend.java.code;

import io.partita.backend.java.plan.Storage;
import io.partita.backend.java.plan.Weights;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Movement.PadMode;
import io.partita.ir.type.Shape;
import java.util.Arrays;
import java.util.List;

/** Loops that move elements, independently of their values. */
final class MovementCode {
  private final StepCode code;
  private Body body;

  private MovementCode(StepCode code) {
    this.code = code;
    this.body = code.body;
  }

  static void emit(StepCode code, Movement movement) {
    MovementCode printer = new MovementCode(code);
    switch (movement) {
      case Movement.Reshape reshape -> printer.copyAll();
      case Movement.Transpose transpose -> printer.transpose(transpose);
      case Movement.Broadcast broadcast -> printer.broadcast();
      case Movement.Slice slice -> printer.slice(slice);
      case Movement.Concat concat -> printer.concat(concat);
      case Movement.Pad pad -> printer.pad(pad);
      case Movement.Gather gather -> printer.gather(gather.axis());
      case Movement.GatherElements gather -> ScatterCode.gatherElements(code, gather.axis());
      case Movement.GatherNd gather -> ScatterCode.gatherNd(code, gather.batchDims());
      case Movement.ScatterElements scatter ->
          ScatterCode.scatterElements(code, scatter.axis(), scatter.reduction());
      case Movement.ScatterNd scatter -> ScatterCode.scatterNd(code, scatter.reduction());
    }
  }

  private void copyAll() {
    copy(code.array(0), "0", code.result(), "0", StepCode.count(code.resultType().shape()));
  }

  private void copy(String from, String fromAt, String to, String toAt, long count) {
    body.line("System.arraycopy(%s, %s, %s, %s, %s)".formatted(from, fromAt, to, toAt, count));
  }

  /** Copies from array to array by strides, using whole runs that are contiguous in both. */
  private void copyStrided(
      String from, String to, long[] extents, LoopNest.Access source, LoopNest.Access target) {
    copyStrided(from, "", to, extents, source, target);
  }

  /** The same from a start that is known only at run time, unless it is empty. */
  private void copyStrided(
      String from,
      String base,
      String to,
      long[] extents,
      LoopNest.Access source,
      LoopNest.Access target) {
    LoopNest nest = LoopNest.of(extents, List.of(source, target));
    if (nest.isEmpty()) {
      return;
    }
    int depth = nest.depth();
    boolean runs =
        depth > 0
            && nest.accesses().stream().allMatch(access -> access.strides().getLast() == 1)
            && nest.extents().getLast() >= 4;
    int loops = runs ? depth - 1 : depth;
    for (int axis = 0; axis < loops; axis++) {
      body.open(LoopNest.loop("i" + axis, nest.extents().get(axis)));
    }
    List<String> index =
        nest.accesses().stream()
            .map(a -> LoopNest.index(a.offset(), a.strides().subList(0, loops), "i"))
            .toList();
    String fromAt = base.isEmpty() ? index.get(0) : plus(base, index.get(0));
    if (runs) {
      copy(from, fromAt, to, index.get(1), nest.extents().getLast());
    } else {
      body.line("%s[%s] = %s[%s]".formatted(to, index.get(1), from, fromAt));
    }
    body.close(loops);
  }

  private static String plus(String base, String index) {
    return index.equals("0") ? base : base + (index.startsWith("-") ? " " : " + ") + index;
  }

  private void copyStrided(long[] extents, LoopNest.Access source, LoopNest.Access target) {
    copyStrided(code.array(0), code.result(), extents, source, target);
  }

  private LoopNest.Access whole() {
    return LoopNest.Access.of(0, code.resultType().shape().strides());
  }

  private void transpose(Movement.Transpose transpose) {
    long[] own = code.shape(0).strides();
    long[] strides = transpose.permutation().stream().mapToLong(axis -> own[axis]).toArray();
    copyStrided(code.resultType().shape().extents(), LoopNest.Access.of(0, strides), whole());
  }

  private void broadcast() {
    Shape shape = code.resultType().shape();
    copyStrided(shape.extents(), ElementwiseCode.access(code.shape(0), shape.rank()), whole());
  }

  private void slice(Movement.Slice slice) {
    long[] strides = code.shape(0).strides();
    List<Long> offsets =
        code.plan.role().operations(code.node).stream()
            .map(op -> offset((Movement.Slice) op, strides))
            .toList();
    String base = code.plan.offsets().of(offsets);
    boolean varies = offsets.stream().distinct().count() > 1;
    long[] steps = strides.clone();
    for (int axis = 0; axis < steps.length; axis++) {
      steps[axis] *= slice.steps().get(axis);
    }
    copyStrided(
        code.array(0),
        varies ? base : "",
        code.result(),
        code.resultType().shape().extents(),
        LoopNest.Access.of(varies ? 0 : offsets.getFirst(), steps),
        whole());
  }

  private static long offset(Movement.Slice slice, long[] strides) {
    long offset = 0;
    for (int axis = 0; axis < strides.length; axis++) {
      offset += slice.starts().get(axis).value() * strides[axis];
    }
    return offset;
  }

  private void concat(Movement.Concat concat) {
    long[] strides = code.resultType().shape().strides();
    long offset = 0;
    for (int i = 0; i < code.node.operands().size(); i++) {
      Shape shape = code.shape(i);
      copyStrided(
          code.array(i),
          code.result(),
          shape.extents(),
          LoopNest.Access.of(0, shape.strides()),
          LoopNest.Access.of(offset, strides));
      offset += shape.extent(concat.axis()) * strides[concat.axis()];
      if (body.characters() > StepMethods.MAX_PART) {
        code.nextPart();
        body = code.body;
      }
    }
  }

  private void pad(Movement.Pad pad) {
    Shape result = code.resultType().shape();
    if (result.elements() == 0) {
      return;
    }
    if (pad.mode() == PadMode.CONSTANT) {
      body.line(
          "Arrays.fill(%s, 0, %s, %s[0])"
              .formatted(code.result(), result.elements(), code.array(1)));
      padInterior(pad, result);
    } else {
      padRepeating(pad, result);
    }
  }

  private void padInterior(Movement.Pad pad, Shape result) {
    long[] from = code.shape(0).strides();
    long[] to = result.strides();
    long[] extents = code.shape(0).extents();
    long fromAt = 0;
    long toAt = 0;
    for (int axis = 0; axis < extents.length; axis++) {
      long low = pad.low().get(axis);
      fromAt += Math.max(0, -low) * from[axis];
      toAt += Math.max(0, low) * to[axis];
      long cut = Math.max(0, -low) + Math.max(0, -pad.high().get(axis));
      extents[axis] = Math.max(0, extents[axis] - cut);
    }
    copyStrided(extents, LoopNest.Access.of(fromAt, from), LoopNest.Access.of(toAt, to));
  }

  /** One loop per axis; the index of the repeated element is computed outside the next loop. */
  private void padRepeating(Movement.Pad pad, Shape result) {
    long[] from = code.shape(0).strides();
    StringBuilder source = new StringBuilder();
    for (int axis = 0; axis < result.rank(); axis++) {
      body.open(LoopNest.loop("i" + axis, result.extent(axis)));
      long low = pad.low().get(axis);
      long before = Math.max(0, -low);
      long extent = code.shape(0).extent(axis) - before - Math.max(0, -pad.high().get(axis));
      String place = "i" + axis + " - " + Math.max(0, low);
      String origin =
          switch (pad.mode()) {
            case EDGE -> "Math.max(0, Math.min(%s, %s))".formatted(extent - 1, place);
            case WRAP -> "Math.floorMod(%s, %s)".formatted(place, extent);
            case REFLECT -> {
              long period = Math.max(1, 2 * (extent - 1));
              yield "%1$s - Math.abs(%1$s - Math.floorMod(%2$s, %3$s))"
                  .formatted(extent - 1, place, period);
            }
            case CONSTANT -> throw new AssertionError(pad.mode());
          };
      body.line("int from" + axis + " = " + origin);
      source.append(axis == 0 ? "" : " + ");
      source.append(before == 0 ? "from" + axis : "(from" + axis + " + " + before + ")");
      source.append(" * ").append(from[axis]);
    }
    String index = LoopNest.index(0, Arrays.stream(result.strides()).boxed().toList(), "i");
    String origin = source.isEmpty() ? "0" : source.toString();
    body.line("%s[%s] = %s[%s]".formatted(code.result(), index, code.array(0), origin));
    body.close(result.rank());
  }

  /** {@code [outer, extent, inner]} at indices: {@code [outer, count, inner]}. */
  void gather(int axis) {
    Shape data = code.shape(0);
    long outer = data.range(0, axis).elements();
    long extent = data.extent(axis);
    long inner = data.range(axis + 1, data.rank()).elements();
    long count = code.shape(1).elements();
    if (outer * inner * count == 0) {
      return;
    }
    boolean streams = axis == 0 && isStreamed();
    LoopNest nest =
        LoopNest.of(
            new long[] {outer, count},
            List.of(
                LoopNest.Access.of(0, count * inner, inner),
                LoopNest.Access.of(0, extent * inner, 0),
                LoopNest.Access.of(0, 0, 1)));
    if (inner == 1
        && outer * count >= ElementwiseCode.SHARED
        && code.plan.literal(code.node.operand(1)) == null) {
      gatherElements(extent, nest);
      return;
    }
    nest.open(body, "i");
    String position = code.call(ScalarKernels.POSITION, code.load(1, nest.index(2, "i")), extent);
    String to = nest.index(0, "i");
    if (streams) {
      Storage storage = Storage.of(code.element(0));
      body.line(
          code.call(
              WeightKernels.reader(storage),
              code.rows(code.node.operand(0)) + "L + " + position + " * " + inner + "L",
              code.result(),
              to,
              inner));
    } else {
      String from = plusIndex(nest.index(1, "i"), position + (inner == 1 ? "" : " * " + inner));
      if (inner == 1) {
        body.line("%s[%s] = %s[%s]".formatted(code.result(), to, code.array(0), from));
      } else {
        copy(code.array(0), from, code.result(), to, inner);
      }
    }
    body.close(nest.depth());
  }

  /** A gather of single elements, in a method that equal steps share. */
  private void gatherElements(long extent, LoopNest nest) {
    String index =
        Elements.loadTerm(code.kernels, code.element(1), "indices", nest.index(2, "i")).text();
    String position = code.call(ScalarKernels.POSITION, index, extent);
    String statement =
        "y[%s] = x[%s]".formatted(nest.index(0, "i"), plusIndex(nest.index(1, "i"), position));
    String array = Elements.primitive(code.element(0)) + "[] ";
    String parameters =
        array + "x, " + Elements.primitive(code.element(1)) + "[] indices, " + array + "y";
    String method =
        code.kernels.useLoop("eachGather", "gather", parameters, nest.around(statement, "i"));
    body.line("%s(%s, %s, %s)".formatted(method, code.array(0), code.array(1), code.result()));
  }

  private static String plusIndex(String base, String index) {
    return base.equals("0") ? index : base + " + " + index;
  }

  /** Whether the data is a constant whose single rows are read from the weights file. */
  private boolean isStreamed() {
    return code.constant(0) != null && Weights.of(code.node, 0) == Weights.ROWS;
  }

  /** An embedding is a gather of rows. */
  static void embedding(StepCode code) {
    new MovementCode(code).gather(0);
  }
}
