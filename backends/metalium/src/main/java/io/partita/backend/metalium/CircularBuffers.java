package io.partita.backend.metalium;

import io.partita.backend.metalium.Step.Epilogue;
import io.partita.backend.metalium.Step.Kind;
import io.partita.backend.metalium.Step.Matrix;
import io.partita.ir.schedule.AttentionBlocks;
import io.partita.ir.schedule.ProductBlocks;
import io.partita.ir.schedule.RowBlocks;
import io.partita.ir.schedule.TileBlocks;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The circular buffers of kernels. */
final class CircularBuffers {
  /** The buffer of sums of products that aren't complete, in the type of the registers. */
  private static final int PARTIAL_SUMS = 24;

  private CircularBuffers() {}

  /** A circular buffer of a step: its index, and the number and the format of its tiles. */
  record Buffer(int index, long pages, TileFormat format) {
    long bytes() {
      return pages * format.bytes();
    }
  }

  /**
   * The buffers of an exchange.
   *
   * @param stored the format of matrices
   */
  static List<Buffer> of(Launch.Exchange exchange, TileFormat stored) {
    return ofExchange(exchange.pages(), stored, exchange.wire().pages(stored));
  }

  /** The bytes of an exchange's buffers but for the vector. */
  static long bytesOfExchange(TileFormat stored) {
    return ofExchange(0, stored, stored).stream().mapToLong(Buffer::bytes).sum();
  }

  private static List<Buffer> ofExchange(long pages, TileFormat stored, TileFormat sent) {
    return List.of(
        new Buffer(0, 2, sent),
        new Buffer(1, 2, sent),
        new Buffer(2, 1, stored),
        new Buffer(3, 1, stored),
        new Buffer(4, 1, stored),
        new Buffer(5, 1, stored),
        new Buffer(6, pages, sent),
        new Buffer(16, 2, sent));
  }

  /** The buffers of the kernel that joins elements, as in {@link #direct}. */
  static List<Integer> directOfExchange(TileFormat sent) {
    return sent == TileFormat.F32 ? List.of(0, 1) : List.of();
  }

  /** The queues of blocks, as their schedule says, and what kernels keep beside them. */
  static List<Buffer> of(Step step) {
    return switch (step.blocks()) {
      case ProductBlocks blocks -> ofProduct(step, blocks);
      case RowBlocks blocks -> ofRows(step, blocks);
      case TileBlocks blocks -> ofTiles(step, blocks);
      case AttentionBlocks blocks -> ofAttention(step, blocks);
    };
  }

  private static List<Buffer> ofTiles(Step step, TileBlocks blocks) {
    long row = step.result().tileColumns();
    TileFormat format = step.result().format();
    long block = blocks.rows().block() * blocks.columns().block();
    List<Buffer> buffers = new ArrayList<>();
    switch (step.kind()) {
      case ELEMENTWISE -> {
        for (Matrix operand : step.operands()) {
          buffers.add(new Buffer(buffers.size(), blocks.operands() * block, operand.format()));
        }
        for (Epilogue epilogue : step.epilogues()) {
          // Of a row, a tile is read again for each tile of the result.
          long pages = epilogue.isRow() ? 1 : block;
          epilogue
              .operand()
              .map(
                  operand ->
                      new Buffer(buffers.size(), blocks.operands() * pages, operand.format()))
              .ifPresent(buffers::add);
        }
      }
      case GATHER_ROWS, CHOICE -> {}
      case LOOKUP, REARRANGE, CONCAT -> buffers.add(new Buffer(0, 1, format));
      case NEAREST_CENTROID -> {
        return ofCentroids(step);
      }
      case DECISION -> {
        long pages = step.operands().stream().mapToLong(Matrix::tileRows).sum();
        buffers.add(new Buffer(0, Math.max(1, pages), format));
      }
      case CACHE_UPDATE -> {
        return List.of(new Buffer(0, blocks.operands() * block, format));
      }
      case SELECT -> buffers.addAll(List.of(new Buffer(0, 1, format), new Buffer(1, 1, format)));
      case ROTARY -> {
        long half = step.operands().get(1).tileColumns();
        long slots = blocks.operands();
        buffers.addAll(
            List.of(
                new Buffer(0, slots * row, format),
                new Buffer(1, slots * half, format),
                new Buffer(2, slots * half, format),
                new Buffer(3, row * row, format),
                new Buffer(4, half * row, format),
                new Buffer(5, slots * row, format)));
        block = row;
      }
      case LINEAR,
          RMS_NORM,
          LAYER_NORM,
          SOFTMAX,
          ATTENTION,
          SPECULATED_ATTENTION,
          EARLY_ATTENTION,
          VERIFYING_ATTENTION ->
          throw new IllegalArgumentException(step.kind().name());
    }
    buffers.add(new Buffer(16, blocks.result() * block, format));
    return buffers;
  }

  private static List<Buffer> ofAttention(Step step, AttentionBlocks blocks) {
    long row = step.result().tileColumns();
    TileFormat format = step.result().format();
    long features = step.operands().getFirst().tileColumns();
    long partial = row + 2;
    int parts = blocks.columns().cores();
    List<Buffer> buffers =
        new ArrayList<>(
            List.of(
                new Buffer(0, features, format),
                new Buffer(1, 2 * features, format),
                new Buffer(2, 2 * row, format),
                new Buffer(3, 1, format),
                new Buffer(4, 1, format),
                new Buffer(5, 2, format)));
    if (parts > 1) {
      buffers.add(new Buffer(6, partial * Integer.numberOfTrailingZeros(parts), format));
    }
    if (step.kind().isSpeculated()) {
      buffers.addAll(List.of(new Buffer(18, 2, format), new Buffer(19, 2, format)));
      buffers.addAll(List.of(new Buffer(20, row, format), new Buffer(21, row, format)));
    }
    // The matrix engine doesn't read those from 22 on but 24, 26 and 29.
    buffers.addAll(List.of(new Buffer(7, partial, format), new Buffer(17, partial, format)));
    buffers.addAll(List.of(new Buffer(22, 1, format), new Buffer(23, 2 * row, format)));
    for (int index = 24; index <= 31; index++) {
      buffers.add(new Buffer(index, 2, format));
    }
    buffers.add(new Buffer(16, 2, format));
    return buffers;
  }

  /** The queues of blocks of rows, as their schedule says, and what kernels keep of a row. */
  private static List<Buffer> ofRows(Step step, RowBlocks blocks) {
    TileFormat format = step.result().format();
    long row = blocks.columns().pages();
    long block = blocks.rows().block() * row;
    List<Buffer> buffers = new ArrayList<>();
    buffers.add(new Buffer(0, blocks.x().slots() * block, format));
    if (step.kind() == Kind.SOFTMAX) {
      buffers.addAll(List.of(new Buffer(1, 1, format), new Buffer(24, 1, format)));
      buffers.addAll(List.of(new Buffer(25, row, format), new Buffer(26, 1, format)));
    } else if (step.kind() == Kind.RMS_NORM) {
      buffers.addAll(List.of(new Buffer(1, row, format), new Buffer(2, 1, format)));
      buffers.addAll(List.of(new Buffer(24, row, format), new Buffer(25, 1, format)));
      buffers.add(new Buffer(26, 1, format));
    } else {
      buffers.addAll(List.of(new Buffer(1, row, format), new Buffer(3, 2, format)));
      buffers.addAll(List.of(new Buffer(24, 1, format), new Buffer(25, 1, format)));
      buffers.addAll(List.of(new Buffer(26, row, format), new Buffer(27, 1, format)));
      buffers.add(new Buffer(28, 1, format));
      if (Kernels.hasBias(step)) {
        buffers.addAll(List.of(new Buffer(2, row, format), new Buffer(29, 1, format)));
      }
    }
    buffers.add(new Buffer(16, blocks.result() * block, format));
    return buffers;
  }

  /** Of f32, a group's features twice, cut to source registers and with all bits. */
  private static List<Buffer> ofCentroids(Step step) {
    TileFormat format = step.result().format();
    long span = CentroidSteps.span(step);
    List<Buffer> buffers = new ArrayList<>(List.of(new Buffer(0, span, format)));
    if (format == TileFormat.F32) {
      buffers.addAll(List.of(new Buffer(1, span, format), new Buffer(24, span, format)));
    }
    for (int index : new int[] {2, 3, 4, 16}) {
      buffers.add(new Buffer(index, 2, TileFormat.F32));
    }
    buffers.add(new Buffer(17, step.result().tileColumns(), format));
    return buffers;
  }

  /** The queues of a product's blocks, as its schedule says. */
  private static List<Buffer> ofProduct(Step step, ProductBlocks blocks) {
    long rows = blocks.rows().block();
    long columns = blocks.columns().block();
    long depth = blocks.depth().block();
    List<Buffer> buffers = new ArrayList<>();
    buffers.add(
        new Buffer(0, blocks.left().slots() * rows * depth, step.operands().get(0).format()));
    buffers.add(
        new Buffer(1, blocks.right().slots() * depth * columns, step.operands().get(1).format()));
    for (Epilogue epilogue : step.epilogues()) {
      epilogue
          .operand()
          .ifPresent(
              operand ->
                  buffers.add(
                      new Buffer(
                          buffers.size(),
                          blocks.others() * (epilogue.isRow() ? columns : rows * columns),
                          operand.format())));
    }
    buffers.add(new Buffer(16, blocks.result() * rows * columns, step.result().format()));
    if (blocks.keepsSums()) {
      buffers.add(new Buffer(PARTIAL_SUMS, rows * columns, TileFormat.of(blocks.sums())));
    }
    return buffers;
  }

  /**
   * Buffers whose f32 tiles only the vector engine reads: they keep all bits on the way to the
   * destination registers.
   */
  static List<Integer> direct(Step step, ElementType element) {
    List<Integer> sums =
        step
            .product()
            .filter(blocks -> blocks.keepsSums() && blocks.sums() == ElementType.F32)
            .stream()
            .map(each -> PARTIAL_SUMS)
            .toList();
    if (element != ElementType.F32) {
      return step.kind() == Kind.NEAREST_CENTROID ? List.of(4) : sums;
    }
    return switch (step.kind()) {
      case LINEAR ->
          Stream.concat(
                  IntStream.range(step.operands().size(), step.allOperands().size()).boxed(),
                  sums.stream())
              .toList();
      case ELEMENTWISE -> IntStream.range(0, step.allOperands().size()).boxed().toList();
      case ROTARY -> List.of(0);
      case NEAREST_CENTROID -> List.of(1, 4);
      case ATTENTION -> List.of(5, 7, 22, 23, 25, 27, 28, 30, 31);
      case SPECULATED_ATTENTION, EARLY_ATTENTION, VERIFYING_ATTENTION ->
          List.of(5, 7, 20, 21, 22, 23, 25, 27, 28, 30, 31);
      case RMS_NORM,
          LAYER_NORM,
          SOFTMAX,
          GATHER_ROWS,
          LOOKUP,
          REARRANGE,
          SELECT,
          CONCAT,
          CHOICE,
          DECISION,
          CACHE_UPDATE ->
          List.of();
    };
  }
}
