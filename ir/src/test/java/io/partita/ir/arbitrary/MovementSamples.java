package io.partita.ir.arbitrary;

import io.partita.ir.function.Combine;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Random operations of {@link Movement}. */
final class MovementSamples {
  private MovementSamples() {}

  static void addTo(Map<Class<? extends Op>, Function<Draw, OpSample>> all) {
    all.put(Movement.Reshape.class, MovementSamples::reshape);
    all.put(Movement.Transpose.class, MovementSamples::transpose);
    all.put(
        Movement.Broadcast.class,
        draw -> {
          Shape to = draw.shape(0, 4);
          return OpSample.of(
              new Movement.Broadcast(to), new TensorType(draw.element(), draw.broadcastingTo(to)));
        });
    all.put(Movement.Slice.class, MovementSamples::slice);
    all.put(Movement.Concat.class, MovementSamples::concat);
    all.put(Movement.Pad.class, MovementSamples::pad);
    all.put(
        Movement.Gather.class,
        draw -> {
          TensorType data = type(draw);
          return OpSample.of(
              new Movement.Gather(draw.from(0, data.rank() - 1)), data, indices(draw, 0, 2));
        });
    all.put(
        Movement.GatherElements.class,
        draw -> {
          TensorType data = type(draw);
          return OpSample.of(
              new Movement.GatherElements(draw.from(0, data.rank() - 1)),
              data,
              indices(draw, data.rank(), data.rank()));
        });
    all.put(
        Movement.GatherNd.class,
        draw -> {
          TensorType data = type(draw);
          int batch = draw.from(0, data.rank() - 1);
          Shape indices =
              draw.shape(batch, batch + 1).concat(Shape.of(draw.from(0, data.rank() - batch)));
          return OpSample.of(
              new Movement.GatherNd(batch), data, new TensorType(draw.index(), indices));
        });
    all.put(
        Movement.ScatterElements.class,
        draw -> {
          TensorType data = type(draw);
          TensorType indices = indices(draw, data.rank(), data.rank());
          return OpSample.of(
              new Movement.ScatterElements(
                  draw.from(0, data.rank() - 1), draw.one(Combine.values())),
              data,
              indices,
              data.with(indices.shape()));
        });
    all.put(
        Movement.ScatterNd.class,
        draw -> {
          TensorType data = type(draw);
          int tuple = draw.from(0, data.rank());
          Shape places = draw.shape(0, 2);
          return OpSample.of(
              new Movement.ScatterNd(draw.one(Combine.values())),
              data,
              new TensorType(draw.index(), places.concat(Shape.of(tuple))),
              data.with(places.concat(data.shape().range(tuple, data.rank()))));
        });
  }

  private static TensorType type(Draw draw) {
    return new TensorType(draw.element(), draw.shape(1, 4));
  }

  private static TensorType indices(Draw draw, int lowestRank, int highestRank) {
    return new TensorType(draw.index(), draw.shape(lowestRank, highestRank));
  }

  private static OpSample reshape(Draw draw) {
    TensorType type = type(draw);
    List<Dim> dims = new ArrayList<>(type.shape().dims());
    if (draw.flag()) {
      dims.add(draw.from(0, dims.size()), Dim.ONE);
    }
    if (dims.size() > 1 && draw.flag()) {
      Dim last = dims.removeLast();
      dims.set(0, dims.getFirst().times(last));
    }
    return OpSample.of(new Movement.Reshape(new Shape(dims)), type);
  }

  private static OpSample transpose(Draw draw) {
    TensorType type = type(draw);
    List<Integer> rest = new ArrayList<>(IntStream.range(0, type.rank()).boxed().toList());
    List<Integer> permutation = new ArrayList<>();
    while (!rest.isEmpty()) {
      permutation.add(rest.remove(/* index */ draw.from(0, rest.size() - 1)));
    }
    return OpSample.of(new Movement.Transpose(permutation), type);
  }

  private static OpSample slice(Draw draw) {
    TensorType type = type(draw);
    List<Dim> starts = new ArrayList<>();
    List<Dim> sizes = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    for (Dim dim : type.shape()) {
      if (dim.is(0)) {
        starts.add(dim);
        sizes.add(dim);
        steps.add(1L);
      } else if (!dim.isStatic()) {
        starts.add(draw.one(Dim.ZERO, dim.plus(-1)));
        sizes.add(dim);
        steps.add(starts.getLast().is(0) ? 1L : -1L);
      } else {
        long start = draw.from(0, (int) dim.value() - 1);
        boolean back = draw.flag();
        starts.add(Dim.of(start));
        sizes.add(Dim.of(draw.from(0, (int) (back ? start + 1 : dim.value() - start))));
        steps.add(back ? -1L : 1L);
      }
    }
    return OpSample.of(new Movement.Slice(starts, sizes, steps), type);
  }

  private static OpSample concat(Draw draw) {
    TensorType type = type(draw);
    int axis = draw.from(0, type.rank() - 1);
    List<TensorType> operands = new ArrayList<>();
    for (int i = draw.from(1, 4); i > 0; i--) {
      operands.add(type.with(type.shape().with(axis, draw.dim())));
    }
    return new OpSample(new Movement.Concat(axis), operands);
  }

  private static OpSample pad(Draw draw) {
    TensorType type = type(draw);
    Movement.PadMode mode = draw.one(Movement.PadMode.values());
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (int axis = 0; axis < type.rank(); axis++) {
      low.add((long) draw.from(-1, 3));
      high.add((long) draw.from(0, 3));
    }
    Op op = new Movement.Pad(mode, low, high);
    return mode == Movement.PadMode.CONSTANT
        ? OpSample.of(op, type, TensorType.scalar(type.element()))
        : OpSample.of(op, type);
  }
}
