package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.function.UnaryFunction;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Structured;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Low-bit weights with a scale per block: MatMulNBits and GatherBlockQuantized of com.microsoft.
 * Weights remain packed; 2-bit weights take 4 bits.
 */
final class MicrosoftBlockQuantized {
  /** The accuracy_level that permits rounding activations to 8 bits. */
  private static final int ROUNDS = 4;

  private MicrosoftBlockQuantized() {}

  static void register(OperatorRegistry registry) {
    String domain = OperatorRegistry.MICROSOFT;
    registry.add(domain, "MatMulNBits", 1, MicrosoftBlockQuantized::matMulNBits);
    registry.add(domain, "GatherBlockQuantized", 1, MicrosoftBlockQuantized::gather);
  }

  /**
   * The extents of a weight {@code [n, k]} in blocks along k.
   *
   * @param blocks the blocks in a row, the last of which may be partial
   */
  private record Blocks(int n, int k, int blocks, int size, int bits) {
    static Blocks of(NodeScope node) {
      long n = node.integer("N");
      long k = node.integer("K");
      long size = node.integer("block_size");
      long bits = node.integer("bits", 4);
      if (n < 1 || k < 1 || size < 1 || n > Integer.MAX_VALUE || k > Integer.MAX_VALUE) {
        throw node.invalid("positive N, K and block_size", n + ", " + k + " and " + size);
      }
      requireBits(node, bits);
      long count = Math.ceilDiv(k, size);
      long bytes = node.shape(1).elements();
      if (bytes != n * count * (size * bits / 8) || node.type(1).element() != ElementType.U8) {
        throw node.invalid(
            "u8 weights of " + n * count * (size * bits / 8) + " bytes", node.type(1).toString());
      }
      return new Blocks((int) n, (int) k, (int) count, Math.toIntExact(size), (int) bits);
    }

    ElementType element() {
      return bits == 8 ? ElementType.U8 : ElementType.U4;
    }

    Shape parameters() {
      return Shape.of(n, blocks);
    }

    /** Returns the default zero point. */
    long middle() {
      return 1L << (bits - 1);
    }
  }

  private static void requireBits(NodeScope node, long bits) {
    if (bits != 2 && bits != 4 && bits != 8) {
      throw node.unsupported(bits + "-bit weights", "quantise to 2, 4 or 8 bits");
    }
  }

  private static void matMulNBits(NodeScope node) {
    Arithmetic of = new Arithmetic(node);
    Blocks blocks = Blocks.of(node);
    Value x = node.input(0);
    ElementType real = x.type().element();
    Value scale = of.reshape(QuantizedValues.scale(node, 2, false), blocks.parameters());
    int padded = blocks.blocks() * blocks.size();
    Tensor weight = unpacked(node.data(1), blocks.bits(), Shape.of(blocks.n(), padded));
    Value q = of.slice(node.constant(weight), 1, Dim.ZERO, Dim.of(blocks.k()));
    if (node.has(4)) {
      int[] order = order(node, blocks);
      if (order.length > 0) {
        Value indices = node.constant(Tensor.longs(Shape.of(order.length), widened(order)));
        x = node.add(new Movement.Gather(x.type().rank() - 1), x, indices);
        q = node.add(new Movement.Gather(1), q, indices);
      }
    }
    Optional<Value> real0 = floatZeroPoint(node, blocks);
    Value zeroPoint = real0.isPresent() ? zeros(node, blocks, 0) : zeroPoint(node, blocks);
    Value dequantized =
        node.add(new Quantized.Dequantize(1, blocks.size(), real), q, scale, zeroPoint);
    boolean rounds = node.departs() && node.integer("accuracy_level", 0) == ROUNDS;
    Value factor = rounds ? rounded(node, x, blocks) : x;
    List<Value> operands = new ArrayList<>(List.of(factor, dequantized));
    node.optionalInput(5).ifPresent(operands::add);
    Value product = node.add(new Structured.Linear(true, operands.size() == 3), operands);
    if (real0.isPresent()) {
      Value offset = of.mul(of.cast(real0.get(), real), scale);
      Value correction =
          node.add(
              new Contraction.MatMul(real),
              blockSums(node, x, blocks),
              IntegerProducts.transposed(node, offset));
      product = of.sub(product, correction);
    }
    node.output(0, product);
  }

  /**
   * Rounds {@code x […, k]} like ONNX Runtime: each block of a row to multiples of its largest
   * magnitude divided by 127.
   */
  private static Value rounded(NodeScope node, Value x, Blocks blocks) {
    Arithmetic of = new Arithmetic(node);
    Value parts = of.cast(inBlocks(node, x, blocks), ElementType.F32);
    int last = parts.type().rank() - 1;
    Value largest =
        of.reduce(ReductionKind.MAX, of.unary(UnaryFunction.ABS, parts), List.of(last), true);
    Value step = of.mul(largest, 1 / 127.0f);
    Value inverse =
        of.select(
            of.binary(BinaryFunction.EQUAL, largest, 0),
            node.scalarLike(largest, 0),
            of.div(node.scalarLike(largest, 127), largest));
    Value levels = of.unary(UnaryFunction.ROUND, of.mul(parts, inverse));
    Value near = of.cast(of.mul(levels, step), x.type().element());
    Shape rows = x.type().shape().range(0, x.type().rank() - 1);
    Dim padded = Dim.of((long) blocks.blocks() * blocks.size());
    Value joined = of.reshape(near, rows.concat(Shape.of(padded)));
    return of.slice(joined, x.type().rank() - 1, Dim.ZERO, Dim.of(blocks.k()));
  }

  private static long[] widened(int[] values) {
    return Arrays.stream(values).asLongStream().toArray();
  }

  /** Sums {@code x […, k]} by block to {@code […, blocks]}, the factors of float zero points. */
  private static Value blockSums(NodeScope node, Value x, Blocks blocks) {
    return new Arithmetic(node)
        .reduce(ReductionKind.SUM, inBlocks(node, x, blocks), List.of(x.type().rank()), false);
  }

  /** Reshapes {@code […, k]} to {@code […, blocks, size]}, padded with zeros. */
  private static Value inBlocks(NodeScope node, Value x, Blocks blocks) {
    int rank = x.type().rank();
    long missing = (long) blocks.blocks() * blocks.size() - blocks.k();
    Value whole = x;
    if (missing > 0) {
      List<Long> low = new ArrayList<>(Collections.nCopies(rank, 0L));
      List<Long> high = new ArrayList<>(low);
      high.set(rank - 1, missing);
      whole =
          node.add(
              new Movement.Pad(Movement.PadMode.CONSTANT, low, high), x, node.scalarLike(x, 0));
    }
    Shape split =
        x.type().shape().range(0, rank - 1).concat(Shape.of(blocks.blocks(), blocks.size()));
    return new Arithmetic(node).reshape(whole, split);
  }

  /**
   * Returns the columns sorted by their group (operand 4), so that blocks are groups; empty if they
   * are sorted.
   */
  private static int[] order(NodeScope node, Blocks blocks) {
    Tensor groups = node.data(4);
    if (groups.size() != blocks.k()) {
      throw node.invalid("a group for each of " + blocks.k() + " columns", groups.toString());
    }
    int[] order =
        IntStream.range(0, blocks.k())
            .boxed()
            .sorted(java.util.Comparator.comparingLong(groups::getLong))
            .mapToInt(Integer::intValue)
            .toArray();
    for (int i = 0; i < order.length; i++) {
      if (groups.getLong(order[i]) != i / blocks.size()) {
        throw node.unsupported(
            "groups of unequal size", "quantise with groups of block_size columns");
      }
    }
    return Arrays.equals(order, IntStream.range(0, blocks.k()).toArray()) ? new int[0] : order;
  }

  private static Optional<Value> floatZeroPoint(NodeScope node, Blocks blocks) {
    return node.has(3) && node.type(3).element().isFloat()
        ? Optional.of(new Arithmetic(node).reshape(node.input(3), blocks.parameters()))
        : Optional.empty();
  }

  /** Returns the packed zero points, whose rows begin at a byte boundary, or the default. */
  private static Value zeroPoint(NodeScope node, Blocks blocks) {
    if (!node.has(3)) {
      return zeros(node, blocks, blocks.middle());
    }
    Tensor packed = node.data(3);
    int rowBytes = Math.ceilDiv(blocks.blocks() * blocks.bits(), 8);
    if (packed.size() != blocks.n() * rowBytes) {
      throw node.invalid(
          "zero points of " + blocks.n() * rowBytes + " bytes", packed.type().toString());
    }
    int perByte = 8 / blocks.bits();
    Tensor rows = unpacked(packed, blocks.bits(), Shape.of(blocks.n(), (long) rowBytes * perByte));
    return new Arithmetic(node).slice(node.constant(rows), 1, Dim.ZERO, Dim.of(blocks.blocks()));
  }

  private static Value zeros(NodeScope node, Blocks blocks, long value) {
    return QuantizedValues.filled(
        node, new TensorType(blocks.element(), blocks.parameters()), value);
  }

  /**
   * Returns the elements of {@code bits} bits in u8 data, lowest first. This is also the packing of
   * u4 tensors, which are not copied.
   */
  static Tensor unpacked(Tensor packed, int bits, Shape shape) {
    return switch (bits) {
      case 8 -> packed.reshaped(shape);
      case 4 -> Tensor.of(new TensorType(ElementType.U4, shape), packed.bytes());
      default -> {
        long[] values = new long[packed.size() * 4];
        for (int i = 0; i < values.length; i++) {
          values[i] = packed.getLong(i / 4) >> (2 * (i % 4)) & 3;
        }
        yield Tensor.ofLongs(new TensorType(ElementType.U4, shape), values);
      }
    };
  }

  /**
   * Imports a lookup of rows in a block-quantised table of bytes with several elements, or of 4-bit
   * elements.
   */
  private static void gather(NodeScope node) {
    long bits = node.integer("bits", 4);
    requireBits(node, bits);
    int rank = node.shape(0).rank();
    int gatherAxis = node.axis(node.integer("gather_axis", 0), rank);
    int blockAxis = node.axis(node.integer("quantize_axis", 1), rank);
    if (gatherAxis == blockAxis) {
      throw node.unsupported(
          "gathering along the axis of the blocks", "quantise along another axis");
    }
    boolean bytes = node.type(0).element() == ElementType.U8;
    Value table = bytes ? unpacked(node, 0, (int) bits) : node.input(0);
    ElementType element = table.type().element();
    Value scale = node.input(2);
    Value zeroPoint =
        !node.has(3)
            ? QuantizedValues.filled(node, scale.type().with(element), bytes ? 1L << (bits - 1) : 0)
            : bytes
                ? new Arithmetic(node)
                    .slice(
                        unpacked(node, 3, (int) bits),
                        rank - 1,
                        Dim.ZERO,
                        scale.type().dim(rank - 1))
                : node.input(3);
    Movement.Gather rows = new Movement.Gather(gatherAxis);
    int axis = blockAxis < gatherAxis ? blockAxis : blockAxis + node.shape(1).rank() - 1;
    node.output(
        0,
        node.add(
            new Quantized.Dequantize(axis, node.integer("block_size", 128), scale.type().element()),
            node.add(rows, table, node.input(1)),
            node.add(rows, scale, node.input(1)),
            node.add(rows, zeroPoint, node.input(1))));
  }

  private static Value unpacked(NodeScope node, int input, int bits) {
    Shape shape = node.shape(input);
    int last = shape.rank() - 1;
    Shape elements = shape.with(last, shape.dim(last).times(Dim.of(8 / bits)));
    return node.constant(unpacked(node.data(input), bits, elements));
  }
}
