package io.partita.ir.op;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The operations of integer-only networks, as quantlib and Deeploy export them for chips without
 * floating point. All of them compute in 64 bits; {@code >>} shifts arithmetically, {@code /}
 * rounds towards zero, ⌊⌋ towards minus infinity, and isqrt is the floor of the square root.
 */
public sealed interface IntegerNetwork extends Op {
  /**
   * Whether each element depends on no other element of x; otherwise it depends on those of its
   * line.
   */
  default boolean isElementwise() {
    return false;
  }

  /**
   * {@code clamp((x multiplier + addend + ⌊2^shift / 2⌋) >> shift, low, high)}: to another scale,
   * rounding half up. Operands x, multiplier and addend; the last two broadcast to x. Deeploy's
   * RequantShift.
   */
  record Requantize(int shift, long low, long high, ElementType to) implements IntegerNetwork {
    @Override
    public boolean isElementwise() {
      return true;
    }

    @Override
    public String mnemonic() {
      return "requantize";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("shift", shift);
      attributes.integer("low", low);
      attributes.integer("high", high);
      attributes.word("to", to.text());
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 3);
      TensorType x = operands.getFirst();
      Require.that(shift >= 0 && shift < 63, "a shift from 0 to 62", shift);
      requireRange(low, high);
      Require.that(to.isInteger(), "an integer type", to);
      for (TensorType operand : operands) {
        requireInteger(operand);
        Require.broadcastsTo(operand.shape(), x.shape());
      }
      return List.of(x.with(to));
    }
  }

  /**
   * Softmax over the last axis by a parabola for the exponential (I-BERT). With {@code t = x -
   * max}, {@code z = ⌊-t / log2⌋}, {@code p = t + z log2} and {@code y = (a (p + b)² + c) >> z}:
   * {@code clamp(⌊y (levels - 1) / Σ y⌋, 0, levels - 1)}. Deeploy's iSoftmax.
   */
  record IntegerSoftmax(long a, long b, long c, long log2, long levels) implements IntegerNetwork {
    @Override
    public String mnemonic() {
      return "integer_softmax";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("a", a);
      attributes.integer("b", b);
      attributes.integer("c", c);
      attributes.integer("log2", log2);
      attributes.integer("levels", levels);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      requireLine(operands.getFirst());
      Require.that(log2 >= 1, "a logarithm of 2 of at least 1", log2);
      requireLevels(levels);
      return operands;
    }
  }

  /**
   * Softmax over the last axis by powers of two. With {@code unit = log2(levels) -
   * log2(log2(levels))} and {@code s = (max - x + 2^unit / 2) >> unit}: {@code ⌊(levels - 1) levels
   * / Σ (levels >> s)⌋ >> s}.
   *
   * <p>With a {@code group} > 0, maximum and sum run over groups of so many elements in order:
   * where a group raises the maximum by d, the sum so far is shifted by {@code (d + 2^unit / 2) >>
   * unit}; and {@code levels / 2 - 1} stands for {@code levels - 1}. Deeploy's ITAMax and
   * ITAPartialMax.
   */
  record PowerSoftmax(long levels, long group) implements IntegerNetwork {
    @Override
    public String mnemonic() {
      return "power_softmax";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("levels", levels);
      attributes.integer("group", group);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      requireLine(operands.getFirst());
      requireLevels(levels);
      Require.that(Long.bitCount(levels) == 1, "a power of two of levels", levels);
      Require.that(group >= 0, "a group of 0 or more", group);
      return operands;
    }

    /** Binary digits of a step of the exponent. */
    public int unit() {
      int bits = Long.numberOfTrailingZeros(levels);
      return bits - (31 - Integer.numberOfLeadingZeros(bits));
    }
  }

  /**
   * Normalises over the last axis: {@code clamp(((d weight) / s + bias) >> shift, low, high)} with
   * {@code s = isqrt(⌊Σ d² / n⌋ + 1)}, where d is {@code x - (Σ x) / n} for a layer norm, and x
   * itself for an RMS norm, which has no bias. Operands x, weight and bias, the last two vectors.
   * Deeploy's iLayerNorm and iRMSNorm.
   */
  record IntegerNorm(Structured.NormKind kind, int shift, long low, long high)
      implements IntegerNetwork {
    @Override
    public String mnemonic() {
      return switch (kind) {
        case LAYER -> "integer_layer_norm";
        case RMS -> "integer_rms_norm";
      };
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("shift", shift);
      attributes.integer("low", low);
      attributes.integer("high", high);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, kind == Structured.NormKind.LAYER ? 3 : 2);
      TensorType x = operands.getFirst();
      requireLine(x);
      Require.that(shift >= 0 && shift < 63, "a shift from 0 to 62", shift);
      requireRange(low, high);
      for (TensorType vector : operands.subList(1, operands.size())) {
        requireInteger(vector);
        Require.broadcastsTo(vector.shape(), x.shape().range(x.rank() - 1, x.rank()));
      }
      return List.of(x);
    }
  }

  /**
   * {@code x ((one + sign(x) (one - (min(|x|, -b) + b)²)) >> 1)} by I-BERT's parabola for the error
   * function. Deeploy's iGELU.
   */
  record IntegerGelu(long b, long one) implements IntegerNetwork {
    @Override
    public boolean isElementwise() {
      return true;
    }

    @Override
    public String mnemonic() {
      return "integer_gelu";
    }

    @Override
    public void write(AttributeWriter attributes) {
      attributes.integer("b", b);
      attributes.integer("one", one);
    }

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 1);
      requireInteger(operands.getFirst());
      return operands;
    }
  }

  /**
   * {@code table[x - least]}: any function of a byte x, whose type has {@code least} as its least
   * number. Operands x and the table of 256 bytes or f32 numbers, whose type is that of the result.
   * TOSA's TABLE.
   */
  record Lookup() implements IntegerNetwork {
    /** The numbers that a byte can have. */
    public static final int ENTRIES = 256;

    /**
     * Returns all numbers of a type of bytes, in the order of a table's entries.
     *
     * @param element the type of the result
     */
    public static Tensor arguments(ElementType bytes, ElementType element) {
      return Tensor.ofLongs(
          TensorType.of(element, ENTRIES),
          LongStream.rangeClosed(bytes.minimum(), bytes.maximum()).toArray());
    }

    @Override
    public boolean isElementwise() {
      return true;
    }

    @Override
    public String mnemonic() {
      return "lookup";
    }

    @Override
    public void write(AttributeWriter attributes) {}

    @Override
    public List<TensorType> resultTypes(List<TensorType> operands) {
      Require.count(operands, 2);
      TensorType x = operands.getFirst();
      TensorType table = operands.get(1);
      Require.that(x.element().isByte(), "an operand of bytes", x);
      Require.that(
          table.element().isByte() || table.element() == ElementType.F32,
          "a table of bytes or f32 numbers",
          table);
      Require.that(
          table.shape().equals(Shape.of((long) ENTRIES)),
          "a table of " + ENTRIES + " entries",
          table);
      return List.of(x.with(table.element()));
    }
  }

  /** Reads the operation of a mnemonic. */
  static Optional<IntegerNetwork> read(String mnemonic, AttributeReader in) {
    return switch (mnemonic) {
      case "requantize" ->
          Optional.of(
              new Requantize(
                  in.smallInteger("shift"),
                  in.integer("low"),
                  in.integer("high"),
                  in.element("to")));
      case "integer_softmax" ->
          Optional.of(
              new IntegerSoftmax(
                  in.integer("a"),
                  in.integer("b"),
                  in.integer("c"),
                  in.integer("log2"),
                  in.integer("levels")));
      case "power_softmax" ->
          Optional.of(new PowerSoftmax(in.integer("levels"), in.integer("group")));
      case "integer_layer_norm", "integer_rms_norm" ->
          Optional.of(
              new IntegerNorm(
                  mnemonic.equals("integer_layer_norm")
                      ? Structured.NormKind.LAYER
                      : Structured.NormKind.RMS,
                  in.smallInteger("shift"),
                  in.integer("low"),
                  in.integer("high")));
      case "integer_gelu" -> Optional.of(new IntegerGelu(in.integer("b"), in.integer("one")));
      case "lookup" -> Optional.of(new Lookup());
      default -> Optional.empty();
    };
  }

  private static void requireInteger(TensorType type) {
    Require.that(type.element().isInteger(), "integer operands", type);
  }

  private static void requireLine(TensorType type) {
    requireInteger(type);
    Require.atLeastRank(type, 1, "an operand");
  }

  private static void requireRange(long low, long high) {
    Require.that(low <= high, "a range", low + " to " + high);
  }

  private static void requireLevels(long levels) {
    Require.that(levels >= 2 && levels <= 1L << 31, "from 2 to 2^31 levels", levels);
  }
}
