package io.partita.backend.siracusa.model;

import io.partita.backend.siracusa.model.LoopFunction.Variable;
import java.util.List;
import java.util.Optional;

/**
 * A kernel for consecutive functions of the elements of a tile, which it computes in one pass.
 *
 * @param name its name, and the tag of its struct of arguments
 * @param comment the functions
 * @param fields the pointers of the struct, {@code out} last
 * @param hasFloats whether it rounds, each operation by itself as the kernels of the runtime do
 * @param product the product that gives the first value of an element; without one, it is loaded
 * @param block the elements that a core computes together
 * @param counters places of an element in lines, unless shifts and masks give them
 * @param scales the scales of requantizations, which are the same for all elements
 * @param scalars other operands of one element
 * @param values the variables of one element: what is loaded, and the results of functions
 * @param wide the same, where requantizations need 64 bits and quantizations a division
 * @param group the variables of a group of elements; if there is one, {@code values} has none
 * @param result what is stored
 */
public record ElementFunction(
    String name,
    String comment,
    List<Pointer> fields,
    boolean hasFloats,
    Optional<Product> product,
    int block,
    List<Counter> counters,
    List<Variable> scales,
    List<Value> scalars,
    List<Value> values,
    List<Value> wide,
    Optional<Group> group,
    String result)
    implements Piece {
  /** {@code PARTITA_GROUP}. */
  public static final int GROUP = 4;

  /** A pointer and its type in C. */
  public record Pointer(String type, String name) {}

  /**
   * The place of an element in lines of so many elements, which is counted on from element to
   * element: a division takes as long as thirty instructions.
   *
   * @param countsLines whether the line is counted, too
   */
  public record Counter(long size, boolean countsLines) {
    public static String line(long size) {
      return "line" + size;
    }

    public static String column(long size) {
      return "column" + size;
    }

    public String line() {
      return line(size);
    }

    public String column() {
      return column(size);
    }
  }

  /** A typed constant. */
  public record Value(String type, String name, String value) {}

  /**
   * A sum of products.
   *
   * @param leftStart the element of the left matrix with which the sum of element {@code i} begins
   * @param leftStep the step from term to term
   * @param depth the number of terms
   * @param dot the function of simd.h that adds four products of adjacent bytes, if there are whole
   *     words of them
   * @param follows whether the terms of a column follow those of the column before
   */
  public record Product(
      String leftType,
      String rightType,
      String leftStart,
      String rightStart,
      long leftStep,
      long rightStep,
      long depth,
      Optional<String> dot,
      boolean follows) {
    /** The number of steps. */
    public long count() {
      return dot.isPresent() ? depth / Integer.BYTES : depth;
    }

    /** Whether there are few. */
    public boolean unrolled() {
      return count() <= 8;
    }
  }

  /**
   * A group of elements, each step for all of them before the next one.
   *
   * @param parts pointers to where the group begins in operands that are used over and over
   * @param values the variables, which are arrays; their values are those of element {@code e}
   * @param quantized the type of levels of the last value; empty if that is stored
   */
  public record Group(List<Value> parts, List<Value> values, Optional<String> quantized) {}

  /**
   * The only counter, if there is one: elements are computed line by line, so that nothing is
   * decided for each of them.
   */
  public Optional<Counter> lines() {
    return counters.size() == 1 ? Optional.of(counters.getFirst()) : Optional.empty();
  }

  /** The counters that groups advance; a group can pass the end of a shorter line twice. */
  public List<Counter> groupCounters() {
    return counters.stream().filter(counter -> counter.size() > GROUP).toList();
  }

  /** Whether a line of sums reads the words of the right matrix one after the other. */
  public boolean isLineOfWords() {
    return lines().isPresent()
        && product
            .filter(each -> each.unrolled() && each.dot().isPresent() && each.follows())
            .isPresent();
  }

  /** Whether it only copies, so that most of a loop would be its branch. */
  public boolean isCopy() {
    return product.isEmpty() && values.size() == 1;
  }

  /** The fields that other variables of the same name don't stand for. */
  public List<Pointer> streams() {
    List<String> known = scalars.stream().map(Value::name).toList();
    return fields.stream()
        .filter(field -> !known.contains(field.name()))
        .filter(field -> !field.name().startsWith("multiplier"))
        .filter(field -> !field.name().startsWith("addend"))
        .filter(field -> !field.name().equals("scale") && !field.name().equals("zero"))
        .toList();
  }
}
