package io.partita.passes.schedule.lower;

import static io.partita.ir.schedule.kernel.Argument.integer;
import static io.partita.ir.schedule.kernel.Argument.none;
import static io.partita.ir.schedule.kernel.Argument.number;
import static io.partita.ir.schedule.kernel.Argument.pointer;
import static io.partita.ir.schedule.kernel.Argument.scratch;
import static io.partita.ir.schedule.kernel.TileExpression.first;
import static io.partita.ir.schedule.kernel.TileExpression.last;
import static io.partita.ir.schedule.kernel.TileExpression.size;
import static io.partita.ir.schedule.kernel.TileExpression.start;

import io.partita.ir.op.IntegerAttention;
import io.partita.ir.op.Structured.Attention;
import io.partita.ir.schedule.BoxDimension;
import io.partita.ir.schedule.kernel.Argument;
import io.partita.ir.schedule.kernel.TileExpression;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code attention.h}: heads and queries are tiled, and keys, along which a state stays in the
 * working memory. {@code integer_attention.h}: a tile has all keys, as weights depend on the
 * largest score; or keys and values are streamed: in a first pass, tiles of keys give all scores,
 * which stay in the working memory, in a second one, tiles of values are summed.
 *
 * <p>The kernel counts heads over all batches; the axes are kv heads and the heads of a group. If
 * positions are outside of heads in a tensor, they are in its tile too, and the loop processes one
 * batch element at a time.
 */
final class AttentionLowering {
  /**
   * The number of cores, each of which gets an item of work: a part of the keys, a head and a
   * query.
   */
  private static final long CORES = 8;

  /** The number of keys that the kernel processes together. */
  private static final long KEYS = 8;

  /** The axis of keys, and that of values. */
  private static final long PASSES = 2;

  /** Lines of weights are whole words, and turned values whole blocks of features. */
  private static final long WORD = 4;

  /** Lines after the weights, which the kernel of turned values reads. */
  private static final long LINES_AFTER = 3;

  /** The queries from which on it takes less time to turn the values first. */
  private static final long MANY_QUERIES = 32;

  private static final TileExpression ZERO = TileExpression.of(0);

  private final Attention op;
  private final TensorView q;
  private final TensorView k;
  private final TensorView v;
  private final TensorView out;
  private final TileEpilogues epilogues;
  private final TileSpaceBuilder space;
  private final long group;
  private final int batch;
  private final int kvHeads;
  private final int groupHeads;
  private final int seq;
  private final Optional<Integer> pass;
  private final int keys;
  private final Optional<TileExpression> keyLength;

  private AttentionLowering(
      Attention op,
      List<TensorView> operands,
      TensorView out,
      TileEpilogues epilogues,
      boolean isStreamed) {
    this.op = op;
    this.epilogues = epilogues;
    q = operands.get(0);
    k = operands.get(1);
    v = operands.get(2);
    this.out = out;
    space = new TileSpaceBuilder(op.isInteger() ? "attention_values_i8" : "attention_f32");
    group = q.shape().get(1) / k.shape().get(1);
    keyLength =
        op.keyLength()
            ? Optional.of(
                new TileExpression.Scalar(
                    space.scalar("key_length", operands.size() - 1, ElementType.I64)))
            : Optional.empty();
    long batches = q.shape().get(0);
    boolean isBatchWalked =
        List.of(q, k, v, out).stream().allMatch(AttentionLowering::hasHeadsOutside)
            && (!op.mask() || isAlikeInBatchAndHeads(operands.get(3)));
    batch =
        space.axis(
            new TileSpace.Axis(
                "batch", batches, 1, isBatchWalked ? batches : 1, false, Optional.empty()));
    kvHeads = space.axis("kv_heads", k.shape().get(1), 1);
    groupHeads = space.axis("group", group, 1);
    seq = space.axis("seq", q.shape().get(2), 1);
    pass =
        isStreamed
            ? Optional.of(
                space.axis(new TileSpace.Axis("pass", PASSES, 1, 1, true, Optional.empty())))
            : Optional.empty();
    boolean isWhole = op.isInteger() && !isStreamed;
    long least = isWhole ? k.shape().get(2) : Math.min(KEYS, k.shape().get(2));
    keys = space.axis(new TileSpace.Axis("keys", k.shape().get(2), least, true, keyLength));
  }

  /**
   * @param all the operands of the attention, then those of epilogues
   * @param epilogues of integer attention: functions whose other operands are scalars
   */
  static Optional<TileSpace> lower(
      Attention op, List<TensorView> all, TensorView out, TileEpilogues epilogues) {
    List<TensorView> operands = all.subList(0, all.size() - epilogues.operands().size());
    boolean hasMask =
        !op.mask()
            || operands.get(3).element() == ElementType.F32
            || operands.get(3).element() == ElementType.BOOL;
    boolean hasOneLength = !op.keyLength() || out.shape().getFirst() == 1;
    if (epilogues.from(out.element()) != ElementType.F32 || !hasMask || !hasOneLength) {
      return Optional.empty();
    }
    TileSpace whole = new AttentionLowering(op, operands, out, epilogues, false).build(operands);
    // Where keys and values don't fit, a step of its own quantizes the result.
    return Optional.of(
        op.isInteger() && epilogues.operands().isEmpty()
            ? whole.inLessMemory(
                new AttentionLowering(op, operands, out, epilogues, true).build(operands))
            : whole);
  }

  /** Whether positions are within heads. */
  private static boolean hasHeadsOutside(TensorView view) {
    return view.shape().get(1) == 1
        || view.shape().get(2) == 1
        || view.strides().get(1) >= view.strides().get(2);
  }

  /** Whether the heads of all batches have a single stride. */
  private boolean isAlikeInBatchAndHeads(TensorView mask) {
    List<Long> strides = TileGrid.broadcast(mask, scores());
    return (strides.get(0) == 0) == (strides.get(1) == 0) || q.shape().get(1) == 1;
  }

  private List<Long> scores() {
    return List.of(q.shape().get(0), q.shape().get(1), q.shape().get(2), k.shape().get(2));
  }

  /** A tile of {@code [batch, heads, rows, features]}, and the strides of heads and rows in it. */
  private record Heads(int operand, TileExpression head, TileExpression row) {}

  private Heads load(String name, int value, TensorView view, int rows) {
    BoxDimension along = along(view, rows);
    BoxDimension row =
        switch (name) {
          case "k" -> ofScores(along);
          case "v" -> ofValues(along);
          default -> along;
        };
    List<BoxDimension> box = TileGrid.closed(box(view, row));
    return heads(space.load(name, value, view.element(), box), view, rows);
  }

  private static BoxDimension along(TensorView view, int rows) {
    return BoxDimension.along(rows, view.shape().get(2), view.strides().get(2));
  }

  private List<BoxDimension> box(TensorView view, BoxDimension row) {
    List<BoxDimension> heads = heads(view.strides().get(1), isKeyed(view));
    List<BoxDimension> box = new ArrayList<>();
    box.add(BoxDimension.along(batch, view.shape().get(0), view.strides().get(0)));
    if (hasHeadsOutside(view)) {
      box.addAll(heads);
      box.add(row);
    } else {
      box.add(row);
      box.addAll(heads);
    }
    box.add(BoxDimension.whole(view.shape().get(3), view.strides().get(3)));
    return box;
  }

  private boolean isKeyed(TensorView view) {
    return view == k || view == v;
  }

  private Heads heads(int operand, TensorView view, int rows) {
    long features = view.shape().get(3);
    TileExpression count = isKeyed(view) ? size(kvHeads) : size(kvHeads).times(size(groupHeads));
    TileExpression width = TileExpression.of(features);
    return hasHeadsOutside(view)
        ? new Heads(operand, size(rows).times(features), width)
        : new Heads(operand, width, count.times(features));
  }

  /** Returns what is loaded for scores only, if these have a pass of their own. */
  private BoxDimension ofScores(BoxDimension keys) {
    return pass.map(axis -> when(first(axis), keys)).orElse(keys);
  }

  private BoxDimension ofValues(BoxDimension keys) {
    return pass.map(axis -> when(last(axis), keys)).orElse(keys);
  }

  private static BoxDimension when(TileExpression condition, BoxDimension box) {
    return new BoxDimension(box.start(), condition.times(box.size()), box.extent(), box.stride());
  }

  private List<BoxDimension> heads(long stride, boolean isKeyed) {
    BoxDimension kv =
        BoxDimension.along(kvHeads, k.shape().get(1), isKeyed ? stride : stride * group);
    return isKeyed ? List.of(kv) : List.of(kv, BoxDimension.along(groupHeads, group, stride));
  }

  private TileSpace build(List<TensorView> operands) {
    Heads queries = load("q", 0, q, seq);
    Heads keyed = load("k", 1, k, keys);
    Heads valued = load("v", 2, v, keys);
    List<Argument> masks = mask(operands);
    List<BoxDimension> box = box(out, along(out, seq));
    TileEpilogues.Loaded others = epilogues.load(space, epilogues.along(out, box));
    int result =
        space.store("out", operands.size() + others.count(), out.element(), TileGrid.closed(box));
    TileEpilogues.Values values =
        others.values(result, out.element(), box.stream().map(BoxDimension::size).toList());
    Tiles tiles =
        new Tiles(
            queries,
            keyed,
            valued,
            masks,
            heads(result, out, seq),
            new Argument("out", values.first(out.element())));
    if (op.isInteger()) {
      integerCalls(tiles);
      values.call(List.of());
    } else {
      calls(tiles);
    }
    return space.build();
  }

  /**
   * The tiles of a loop.
   *
   * @param mask pointers, then strides
   * @param result where the kernels of attention store
   */
  private record Tiles(Heads q, Heads k, Heads v, List<Argument> mask, Heads out, Argument result) {
    List<Argument> masks() {
      return mask.subList(0, 2);
    }

    List<Argument> maskStrides() {
      return mask.subList(2, mask.size());
    }
  }

  private TileExpression headCount() {
    return TileGrid.elements(List.of(batch, kvHeads, groupHeads));
  }

  /** The number of valid keys in all tiles. */
  private TileExpression allKeys() {
    long all = k.shape().get(2);
    return keyLength
        .map(length -> length.minimum(TileExpression.of(all)).maximum(ZERO))
        .orElse(TileExpression.of(all));
  }

  private List<Argument> counts() {
    TileExpression valid =
        keyLength
            .map(length -> length.minus(start(keys)).minimum(size(keys)).maximum(ZERO))
            .orElse(size(keys));
    return List.of(
        integer("heads", headCount()),
        integer("group", size(groupHeads)),
        integer("seq", size(seq)),
        integer("keys", valid));
  }

  private List<Argument> visibility() {
    TileExpression position =
        keyLength
            .map(length -> length.minus(TileExpression.of(q.shape().get(2))))
            .orElse(TileExpression.of(op.offset().value()))
            .plus(start(seq))
            .minus(start(keys));
    return List.of(
        integer("causal", op.causal() ? 1 : 0),
        integer("window", Math.min(op.window(), Integer.MAX_VALUE)),
        integer("position", position));
  }

  private void integerCalls(Tiles tiles) {
    long row = Math.ceilDiv(k.shape().get(2), WORD) * WORD;
    TileExpression lines = headCount().times(size(seq));
    int scores = space.scratch("scores", lines.times(Integer.BYTES * k.shape().get(2)));
    // A tile of streamed values has few queries, because these need their scores.
    boolean isTurned = q.shape().get(2) >= MANY_QUERIES && pass.isEmpty();
    int weights = space.scratch("weights", lines.plus(isTurned ? LINES_AFTER : 0).times(row));
    List<Argument> counts = counts();
    List<Argument> first = new ArrayList<>();
    first.add(pointer("q", tiles.q.operand));
    first.add(pointer("k", tiles.k.operand));
    first.addAll(tiles.masks());
    first.add(
        pass.isEmpty()
            ? scratch("scores", scores)
            : scratch("scores", scores, start(keys).times(Integer.BYTES)));
    first.addAll(counts);
    first.add(integer("d", q.shape().get(3)));
    first.addAll(strides("q", tiles.q));
    first.addAll(strides("k", tiles.k));
    first.addAll(tiles.maskStrides());
    first.addAll(visibility());
    pass.ifPresent(axis -> first.add(integer("scores_row", allKeys())));
    first.add(number("inverse_scale", IntegerAttention.inverse(op.scale())));
    List<Integer> ofScores = pass.stream().toList();
    space.call("attention_scores_i8", first, ofScores, List.of());
    space.call(
        "attention_weights_u8",
        List.of(
            scratch("scores", scores),
            scratch("weights", weights),
            counts.get(0),
            counts.get(2),
            integer("keys", allKeys()),
            integer("row", row),
            number("unit", IntegerAttention.unit(op.scale()))),
        ofScores,
        pass.map(axis -> keys).stream().toList());
    if (isTurned) {
      turnedValues(tiles, weights, row);
    } else {
      values(tiles, weights, row);
    }
  }

  private void values(Tiles tiles, int weights, long row) {
    List<Argument> arguments = new ArrayList<>();
    arguments.add(scratch("weights", weights));
    arguments.add(pointer("v", tiles.v.operand));
    arguments.add(tiles.result);
    arguments.addAll(counts());
    arguments.add(integer("dv", v.shape().get(3)));
    arguments.add(integer("row", row));
    arguments.addAll(strides("v", tiles.v));
    arguments.addAll(strides("out", tiles.out));
    if (pass.isPresent()) {
      arguments.add(integer("first_key", start(keys)));
      arguments.add(integer("more_keys", TileExpression.of(1).minus(last(keys))));
    }
    arguments.add(number("value_scale", (float) op.valueScale()));
    space.call("attention_values_i8", arguments, List.of(), pass.stream().toList());
  }

  private void turnedValues(Tiles tiles, int weights, long row) {
    TileExpression heads = TileGrid.elements(List.of(batch, kvHeads));
    List<Argument> counts = counts();
    long lines = Math.ceilDiv(v.shape().get(3), WORD) * WORD;
    List<Argument> lineCounts =
        List.of(integer("dv", v.shape().get(3)), integer("lines", lines), integer("row", row));
    int turned = space.scratch("turned", heads.times(lines * row));
    List<Argument> first = new ArrayList<>();
    first.add(pointer("v", tiles.v.operand));
    first.add(scratch("turned", turned));
    first.add(integer("heads", heads));
    first.add(counts.get(3));
    first.addAll(lineCounts);
    first.addAll(strides("v", tiles.v));
    space.call("attention_turn_i8", first);
    List<Argument> last = new ArrayList<>();
    last.add(scratch("weights", weights));
    last.add(scratch("turned", turned));
    last.add(tiles.result);
    last.addAll(counts);
    last.addAll(lineCounts);
    last.addAll(strides("out", tiles.out));
    last.add(number("value_scale", (float) op.valueScale()));
    space.call("attention_turned_values_i8", last);
  }

  private void calls(Tiles tiles) {
    long parts = parts();
    TileExpression items = headCount().times(size(seq)).times(parts);
    long valueSize = v.shape().get(3);
    List<Argument> state =
        List.of(
            scratch("largest", space.scratch("largest", items.times(Float.BYTES))),
            scratch("weights", space.scratch("weights", items.times(Float.BYTES))),
            scratch("sums", space.scratch("sums", items.times(Float.BYTES * valueSize))));
    List<Argument> arguments = new ArrayList<>();
    arguments.add(pointer("q", tiles.q.operand));
    arguments.add(pointer("k", tiles.k.operand));
    arguments.add(pointer("v", tiles.v.operand));
    arguments.addAll(tiles.masks());
    arguments.addAll(state);
    arguments.add(integer("parts", parts));
    arguments.addAll(counts());
    arguments.add(integer("d", q.shape().get(3)));
    arguments.add(integer("dv", valueSize));
    arguments.addAll(strides("q", tiles.q));
    arguments.addAll(strides("k", tiles.k));
    arguments.addAll(strides("v", tiles.v));
    arguments.addAll(tiles.maskStrides());
    arguments.add(integer("first", first(keys)));
    arguments.addAll(visibility());
    arguments.add(number("scale", (float) op.scale()));
    arguments.add(number("soft_cap", (float) op.softCap()));
    space.call("attention_f32", arguments);
    List<Argument> last = new ArrayList<>(state);
    last.add(tiles.result);
    last.add(integer("parts", parts));
    last.add(integer("heads", headCount()));
    last.add(integer("seq", size(seq)));
    last.add(integer("dv", valueSize));
    last.addAll(strides("out", tiles.out));
    space.call("attention_finish_f32", last, List.of(keys));
  }

  private static List<Argument> strides(String name, Heads tile) {
    return List.of(integer(name + "_head", tile.head), integer(name + "_row", tile.row));
  }

  /**
   * Returns the number of parts of keys that balances items over cores; each part adds some work to
   * join results.
   */
  private long parts() {
    long items = q.shape().get(0) * q.shape().get(1) * q.shape().get(2);
    long best = 1;
    for (long parts = 2; parts <= CORES && parts * KEYS <= k.shape().get(2); parts++) {
      if (time(items, parts) < time(items, best)) {
        best = parts;
      }
    }
    return best;
  }

  private static double time(long items, long parts) {
    return (double) Math.ceilDiv(items * parts, CORES) / parts + 0.02 * parts;
  }

  /** Returns pointers, then strides. */
  private List<Argument> mask(List<TensorView> operands) {
    if (!op.mask()) {
      return List.of(none("allowed"), none("added"));
    }
    TensorView view = operands.get(3);
    List<Long> strides = TileGrid.broadcast(view, scores());
    List<BoxDimension> box = new ArrayList<>();
    TileExpression next = TileExpression.of(1);
    TileExpression key = ZERO;
    TileExpression row = ZERO;
    TileExpression head = ZERO;
    if (strides.get(3) != 0) {
      box.addFirst(ofScores(BoxDimension.along(keys, k.shape().get(2), strides.get(3))));
      key = next;
      next = next.times(size(keys));
    }
    if (strides.get(2) != 0) {
      box.addFirst(BoxDimension.along(seq, q.shape().get(2), strides.get(2)));
      row = next;
      next = next.times(size(seq));
    }
    if (strides.get(1) != 0) {
      box.addAll(0, heads(strides.get(1), false));
      head = next;
    }
    if (strides.get(0) != 0) {
      box.addFirst(BoxDimension.along(batch, q.shape().get(0), strides.get(0)));
      head = head.equals(ZERO) && q.shape().get(1) == 1 ? next : head;
    }
    int operand = space.load("mask", 3, view.element(), TileGrid.closed(box));
    boolean isBoolean = view.element() == ElementType.BOOL;
    return List.of(
        isBoolean ? pointer("allowed", operand) : none("allowed"),
        isBoolean ? none("added") : pointer("added", operand),
        integer("mask_head", head),
        integer("mask_row", row),
        integer("mask_key", key));
  }
}
