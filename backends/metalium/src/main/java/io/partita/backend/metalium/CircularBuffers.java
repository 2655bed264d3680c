package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The circular buffers of kernels. */
final class CircularBuffers {
  private CircularBuffers() {}

  /** A circular buffer of a step: its index and its size in tiles. */
  record Buffer(int index, long pages) {}

  /** The buffers of an exchange of a vector of pages. */
  static List<Buffer> ofExchange(long pages) {
    return List.of(
        new Buffer(0, 2),
        new Buffer(1, 2),
        new Buffer(2, 1),
        new Buffer(3, 1),
        new Buffer(4, 1),
        new Buffer(5, 1),
        new Buffer(6, pages),
        new Buffer(16, 2));
  }

  /** The buffers of the kernel that joins elements, as in {@link #direct}. */
  static List<Integer> directOfExchange(ElementType element) {
    return element == ElementType.F32 ? List.of(0, 1) : List.of();
  }

  /** Buffers of two tiles overlap transfers with computing; those of rows hold all their tiles. */
  static List<Buffer> of(Step step) {
    long row = step.result().tileColumns();
    List<Buffer> buffers = new ArrayList<>();
    switch (step.kind()) {
      case LINEAR, ELEMENTWISE -> {
        int count = step.operands().size() + step.epilogueOperands().size();
        for (int index = 0; index < count; index++) {
          buffers.add(new Buffer(index, 2));
        }
      }
      case RMS_NORM ->
          buffers.addAll(
              List.of(
                  new Buffer(0, 2 * row),
                  new Buffer(1, row),
                  new Buffer(2, 1),
                  new Buffer(24, row),
                  new Buffer(25, 1),
                  new Buffer(26, 1)));
      case LAYER_NORM -> {
        // The reader fetches the next row as soon as this one is centered.
        buffers.addAll(List.of(new Buffer(0, row), new Buffer(1, row), new Buffer(3, 2)));
        buffers.addAll(List.of(new Buffer(24, 1), new Buffer(25, row), new Buffer(26, row)));
        buffers.addAll(List.of(new Buffer(27, 1), new Buffer(28, 1)));
        if (Kernels.hasBias(step)) {
          buffers.addAll(List.of(new Buffer(2, row), new Buffer(29, 1)));
        }
      }
      case SOFTMAX ->
          buffers.addAll(
              List.of(
                  new Buffer(0, 2 * row),
                  new Buffer(1, 1),
                  new Buffer(24, 1),
                  new Buffer(25, row),
                  new Buffer(26, 1)));
      case GATHER_ROWS, CHOICE -> {}
      case DECISION -> {
        long pages = step.operands().stream().mapToLong(Matrix::tileRows).sum();
        buffers.add(new Buffer(0, Math.max(1, pages)));
      }
      case REARRANGE, CONCAT, CACHE_UPDATE -> buffers.add(new Buffer(0, 2));
      case ROTARY -> {
        long half = step.operands().get(1).tileColumns();
        buffers.addAll(
            List.of(
                new Buffer(0, 2 * row),
                new Buffer(1, 2 * half),
                new Buffer(2, 2 * half),
                new Buffer(3, row * row),
                new Buffer(4, half * row),
                new Buffer(5, 2 * row)));
      }
      case ATTENTION, SPECULATED_ATTENTION -> {
        long features = step.operands().getFirst().tileColumns();
        long partial = row + 2;
        buffers.addAll(
            List.of(
                new Buffer(0, features),
                new Buffer(1, 2 * features),
                new Buffer(2, 2 * row),
                new Buffer(3, 1),
                new Buffer(4, 1),
                new Buffer(5, 2)));
        if (step.chunks() > 1) {
          buffers.add(new Buffer(6, partial * Integer.numberOfTrailingZeros(step.chunks())));
        }
        if (step.kind() == Kind.SPECULATED_ATTENTION) {
          buffers.addAll(List.of(new Buffer(18, 2), new Buffer(19, 2)));
          buffers.addAll(List.of(new Buffer(20, row), new Buffer(21, row)));
        }
        // The matrix engine doesn't read those from 22 on but 24, 26 and 29.
        buffers.addAll(List.of(new Buffer(7, partial), new Buffer(17, partial)));
        buffers.addAll(List.of(new Buffer(22, 1), new Buffer(23, 2 * row)));
        for (int index = 24; index <= 31; index++) {
          buffers.add(new Buffer(index, 2));
        }
      }
    }
    if (step.kind() != Kind.CACHE_UPDATE) {
      buffers.add(new Buffer(16, 2));
    }
    return buffers;
  }

  /**
   * Buffers whose f32 tiles only the vector engine reads: they keep all bits on the way to the
   * destination registers.
   */
  static List<Integer> direct(Step step, ElementType element) {
    if (element != ElementType.F32) {
      return List.of();
    }
    return switch (step.kind()) {
      case LINEAR, ELEMENTWISE -> {
        int first = step.kind() == Kind.LINEAR ? step.operands().size() : 0;
        yield IntStream.range(first, step.operands().size() + step.epilogueOperands().size())
            .boxed()
            .toList();
      }
      case ROTARY -> List.of(0);
      case ATTENTION -> List.of(5, 7, 22, 23, 25, 27, 28, 30, 31);
      case SPECULATED_ATTENTION -> List.of(5, 7, 20, 21, 22, 23, 25, 27, 28, 30, 31);
      case RMS_NORM,
          LAYER_NORM,
          SOFTMAX,
          GATHER_ROWS,
          REARRANGE,
          CONCAT,
          CHOICE,
          DECISION,
          CACHE_UPDATE ->
          List.of();
    };
  }
}
