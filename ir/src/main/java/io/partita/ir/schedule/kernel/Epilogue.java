package io.partita.ir.schedule.kernel;

import io.partita.ir.schedule.kernel.Argument.Value;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The equivalence of a kernel to two others, the second of which uses the sums of the first: the
 * sums stay in registers in between.
 *
 * @param product the name of the kernel that sums products
 * @param end the name of the kernel that uses the sums
 * @param within the field of the kernel's struct for the arguments of {@code product}
 * @param rest the other fields, from the arguments of {@code end}; empty if the kernel can't do the
 *     same
 */
public record Epilogue(String product, String end, String within, Rest rest) {
  /** The other fields of a fused kernel. */
  @FunctionalInterface
  interface Rest {
    /**
     * @param rank the rank of the result: the number of used dimensions of extents and strides
     */
    Optional<List<Argument>> of(List<Argument> end, int rank);
  }

  /**
   * Returns one call for two.
   *
   * @param kernel the kernel with this epilogue
   * @param rank the rank of the result
   * @return the call; empty if the second one doesn't use the result of the first one, or in a way
   *     that the kernel can't
   */
  public Optional<KernelCall> fused(Kernel kernel, KernelCall first, KernelCall second, int rank) {
    Optional<Value> sums = CallFields.find(first.arguments(), "out");
    Optional<Value> out = CallFields.find(second.arguments(), "out");
    if (!first.onFirst().isEmpty()
        || !first.onLast().isEmpty()
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
   * Analyses an array of strides with at most one nonzero dimension.
   *
   * @param field the field of strides, the last of which are used
   * @return the dimension with a stride of 1, or -1; empty for other strides
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

  /** Returns fields with the same value in both; empty if one doesn't fit 32 bits. */
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
