package io.partita.ir.arbitrary;

import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/** Random parts of modules, from a seed: small extents, unusual names, all bit patterns. */
public final class Draw {
  private static final List<String> NAMES =
      List.of(
          "x",
          "input_ids",
          "past_key_values.0.key",
          "/model/layers.0/self_attn/MatMul_output_0",
          "onnx::Add_12",
          "a b",
          "0",
          "12",
          "nan",
          "weight",
          "return",
          "\"quoted\" \\ back\\slash \\u{41}",
          "line\nfeed\r\ttab\u0000",
          "Größe→規模 🎵",
          "\ud83c",
          "\udfb5\u2028\u202e",
          "// no comment",
          "%1 = ",
          "e\u0301");

  private static final List<String> SYMBOLS =
      List.of("seq", "batch", "past", "past_sequence_length + 1", "a*b", "constant", "状態", "N-1");

  private final SplittableRandom random;
  private final List<Long> extents;

  public Draw(long seed) {
    this(seed, List.of());
  }

  /**
   * @param extents the extents to choose from, or small ones if it is empty
   */
  public Draw(long seed, List<Long> extents) {
    this.random = new SplittableRandom(seed);
    this.extents = List.copyOf(extents);
  }

  /** Whether extents were given. */
  public boolean isWide() {
    return !extents.isEmpty();
  }

  /** Returns a number from {@code from} to {@code to}, inclusive. */
  public int from(int from, int to) {
    return random.nextInt(from, to + 1);
  }

  public boolean flag() {
    return random.nextBoolean();
  }

  public boolean oneIn(int count) {
    return random.nextInt(count) == 0;
  }

  public <T> T one(List<T> choices) {
    return choices.get(random.nextInt(choices.size()));
  }

  @SafeVarargs
  public final <T> T one(T... choices) {
    return choices[random.nextInt(choices.length)];
  }

  public double number() {
    return switch (from(0, 3)) {
      case 0 -> one(0.0, -0.0, 1.0E-5, Double.NaN, Double.MIN_VALUE, Double.NEGATIVE_INFINITY);
      case 1 -> Double.longBitsToDouble(random.nextLong());
      default -> random.nextDouble(-10, 10);
    };
  }

  public String name() {
    return oneIn(4) ? one(NAMES) + random.nextInt(100) : one(NAMES);
  }

  public ElementType element(Predicate<ElementType> fits) {
    return one(List.of(ElementType.values()).stream().filter(fits).toList());
  }

  public ElementType element() {
    return element(any -> true);
  }

  public ElementType numeric() {
    return element(type -> type != ElementType.BOOL);
  }

  public ElementType floating() {
    return element(ElementType::isFloat);
  }

  public ElementType integer() {
    return element(ElementType::isInteger);
  }

  public ElementType index() {
    return one(ElementType.I64, ElementType.I32);
  }

  /** Returns mostly a number, else a symbol or a polynomial. */
  public Dim dim() {
    return switch (from(0, 5)) {
      case 0 -> Dim.symbol(one(SYMBOLS));
      case 1 -> polynomial();
      default -> Dim.of(extents.isEmpty() ? from(1, 4) : one(extents));
    };
  }

  private Dim polynomial() {
    Dim sum = Dim.of(from(-3, 3));
    for (int i = from(1, 3); i > 0; i--) {
      Dim term = Dim.of(from(-2, 5));
      for (int power = from(1, 2); power > 0; power--) {
        term = term.times(Dim.symbol(one(SYMBOLS)));
      }
      sum = sum.plus(term);
    }
    return sum.isStatic() ? Dim.of(2) : sum;
  }

  public Shape shape(int rank) {
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      dims.add(dim());
    }
    return new Shape(dims);
  }

  public Shape shape(int lowestRank, int highestRank) {
    return shape(from(lowestRank, highestRank));
  }

  public Shape staticShape(int rank) {
    List<Dim> dims = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      dims.add(Dim.of(oneIn(12) ? 0 : from(1, 4)));
    }
    return new Shape(dims);
  }

  /** Returns a shape that broadcasts to {@code to}. */
  public Shape broadcastingTo(Shape to) {
    Shape shape = to.range(from(0, to.rank()), to.rank());
    for (int axis = 0; axis < shape.rank(); axis++) {
      if (oneIn(3)) {
        shape = shape.with(axis, Dim.ONE);
      }
    }
    return shape;
  }

  /** Returns distinct axes below {@code rank}, ascending. */
  public List<Integer> axes(int rank) {
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < rank; axis++) {
      if (flag()) {
        axes.add(axis);
      }
    }
    return axes;
  }

  /** Returns random bits of a static type, including all kinds of NaN. */
  public Tensor tensor(TensorType type) {
    byte[] bytes = new byte[Math.toIntExact(type.bytes())];
    random.nextBytes(bytes);
    boolean special = oneIn(3);
    for (int i = 0; i < bytes.length; i++) {
      if (type.element() == ElementType.BOOL && !oneIn(50)) {
        bytes[i] &= 1;
      } else if (special) {
        bytes[i] = one(List.of((byte) 0, (byte) 0xff, (byte) 0x7f, (byte) 0x80, (byte) 0xc0));
      }
    }
    return Tensor.of(type, MemorySegment.ofArray(bytes));
  }
}
