package io.partita.ir.factor;

import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The index mapping of an operation: each dimension of operands and results is a product of
 * factors, major to minor, or has none if its extent is 1. {@code [i k] [k j] -> [i j]} with k
 * summed is a matrix product; {@code [s (h d)] -> [s h d]} a reshape.
 *
 * @param operands the indices of factors, by operand and dimension
 * @param results likewise
 */
public record FactorRule(
    List<Factor> factors,
    List<List<List<Integer>>> operands,
    List<List<List<Integer>>> results,
    Linearity linearity) {
  public FactorRule {
    factors = List.copyOf(factors);
    operands = List.copyOf(operands);
    results = List.copyOf(results);
  }

  /** Returns the product of the extents of some factors. */
  public long extent(List<Integer> dimension) {
    return dimension.stream()
        .mapToLong(factor -> factors.get(factor).extent())
        .reduce(1, (a, b) -> a * b);
  }

  /**
   * {@code [a b] [b c] -> [a c], sum b}: factors as letters, with capitals for those that are
   * whole.
   */
  @Override
  public String toString() {
    String sums =
        java.util.stream.IntStream.range(0, factors.size())
            .filter(factor -> factors.get(factor).reduction().isPresent())
            .mapToObj(f -> ", " + factors.get(f).reduction().orElseThrow().text() + " " + letter(f))
            .collect(Collectors.joining());
    return text(operands) + " -> " + text(results) + sums;
  }

  private String text(List<List<List<Integer>>> values) {
    return values.stream()
        .map(dims -> dims.stream().map(this::dimension).collect(Collectors.joining(" ", "[", "]")))
        .collect(Collectors.joining(" "));
  }

  private String dimension(List<Integer> dimension) {
    String letters = dimension.stream().map(this::letter).collect(Collectors.joining(" "));
    return dimension.isEmpty() ? "1" : dimension.size() == 1 ? letters : "(" + letters + ")";
  }

  private String letter(int factor) {
    char letter = (char) ((factors.get(factor).isSplittable() ? 'a' : 'A') + factor % 26);
    return factor < 26 ? String.valueOf(letter) : letter + String.valueOf(factor / 26);
  }

  /** Collects factors and the dimensions that they index. */
  static final class Builder {
    /** The index for an extent of 1, which has no factor. */
    static final int NONE = -1;

    private final List<Factor> factors = new ArrayList<>();
    private final List<List<List<Integer>>> operands = new ArrayList<>();
    private final List<List<List<Integer>>> results = new ArrayList<>();

    int factor(Factor.Use use, long extent) {
      if (extent == 1) {
        return NONE;
      }
      factors.add(new Factor(use, extent));
      return factors.size() - 1;
    }

    int factor(Factor.Use use, Dim extent) {
      return factor(use, extent.value());
    }

    int parallel(Dim extent) {
      return factor(Factor.Use.PARALLEL, extent);
    }

    int whole(Dim extent) {
      return factor(Factor.Use.WHOLE, extent);
    }

    int sum(Dim extent) {
      return factor(Factor.Use.SUM, extent);
    }

    /** Adds a parallel factor for each dimension. */
    int[] parallel(Shape shape) {
      return shape.dims().stream().mapToInt(this::parallel).toArray();
    }

    int[] whole(Shape shape) {
      return shape.dims().stream().mapToInt(this::whole).toArray();
    }

    /** Adds dimensions of one factor each. */
    Builder operand(int... dims) {
      operands.add(simple(dims));
      return this;
    }

    Builder operand(List<int[]> dims) {
      operands.add(compound(dims));
      return this;
    }

    Builder result(int... dims) {
      results.add(simple(dims));
      return this;
    }

    Builder result(List<int[]> dims) {
      results.add(compound(dims));
      return this;
    }

    /** Adds an operand that broadcasts to the dimensions {@code to}. */
    Builder broadcast(TensorType operand, int... to) {
      int[] dims = new int[operand.rank()];
      for (int dim = 0; dim < dims.length; dim++) {
        dims[dim] = operand.dim(dim).is(1) ? NONE : to[to.length - dims.length + dim];
      }
      return operand(dims);
    }

    private static List<List<Integer>> simple(int[] dims) {
      return compound(Arrays.stream(dims).mapToObj(dim -> new int[] {dim}).toList());
    }

    private static List<List<Integer>> compound(List<int[]> dims) {
      return dims.stream()
          .map(dim -> Arrays.stream(dim).filter(factor -> factor != NONE).boxed().toList())
          .toList();
    }

    FactorRule finish(Linearity linearity) {
      return new FactorRule(factors, operands, results, linearity);
    }
  }
}
