package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What makes a kernel the same as two others, one after the other, of which the second reads what
 * the first has summed up: the results don't leave the registers in between.
 *
 * @param product name of the kernel that sums products
 * @param end name of the kernel that reads the sums
 * @param within the field of the kernel's struct that has the arguments of {@code product}
 * @param rest the other fields, from the arguments of {@code end}; none where the kernel can't do
 *     the same
 */
public record Epilogue(String product, String end, String within, Rest rest) {
  /** Fields of a fused kernel. */
  @FunctionalInterface
  interface Rest {
    /**
     * @param rank of the result: extents and strides have so many dimensions that are in use
     */
    Optional<List<Argument>> of(List<Argument> end, int rank);
  }

  /**
   * One call for two.
   *
   * @param kernel that has this epilogue
   * @param rank of the result
   * @return none if the second doesn't read what the first writes, or not as the kernel can
   */
  public Optional<KernelCall> fused(Kernel kernel, KernelCall first, KernelCall second, int rank) {
    Optional<Value> sums = CallFields.find(first.arguments(), "out");
    Optional<Value> out = CallFields.find(second.arguments(), "out");
    if (!first.onLast().isEmpty()
        || out.isEmpty()
        || !sums.equals(CallFields.find(second.arguments(), "x"))) {
      return Optional.empty();
    }
    List<Argument> inner = new ArrayList<>();
    for (Argument each : first.arguments()) {
      inner.add(each.field().equals("out") ? new Argument("out", out.get()) : each);
    }
    return rest.of(second.arguments(), rank)
        .map(
            others -> {
              List<Argument> all = new ArrayList<>();
              all.add(new Argument(within, new Value.Struct(inner)));
              all.addAll(others);
              return new KernelCall(kernel, all, List.of());
            });
  }

  /**
   * How an array of strides leads through the result, if through one dimension at most.
   *
   * @param field with strides, the last ones of dimensions in use
   * @return the number of the dimension, with a stride of 1, or -1; none for other strides
   */
  static Optional<Integer> only(List<Argument> arguments, String field, int rank) {
    if (!(CallFields.find(arguments, field).orElse(null) instanceof Value.Integers(var strides))) {
      return Optional.empty();
    }
    int found = -1;
    for (int i = 0; i < strides.size(); i++) {
      if (strides.get(i).equals(TileExpression.of(0))) {
        continue;
      }
      if (found >= 0 || !strides.get(i).equals(TileExpression.of(1))) {
        return Optional.empty();
      }
      found = i - (strides.size() - rank);
    }
    return Optional.of(found);
  }

  /** Fields that are the same in both; none if one doesn't fit 32 bits. */
  static Optional<List<Argument>> small(List<Argument> arguments, String... fields) {
    List<Argument> found = new ArrayList<>();
    for (String field : fields) {
      if (!(CallFields.find(arguments, field).orElse(null)
              instanceof Value.Integer(TileExpression.Literal(long value)))
          || value != (int) value) {
        return Optional.empty();
      }
      found.add(Argument.integer(field, value));
    }
    return Optional.of(found);
  }
}
