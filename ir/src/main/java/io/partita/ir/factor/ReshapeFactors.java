package io.partita.ir.factor;

import io.partita.ir.factor.Factor.Use;
import io.partita.ir.factor.FactorRule.Builder;
import io.partita.ir.type.Divisors;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The common factors of two shapes with the same number of elements. Beginning with the outermost
 * dimensions, the greatest common divisor of the remaining extents is a factor: {@code [6,4] ->
 * [2,12]} is {@code [(2 3) 4] -> [2 (3 4)]}. If it is 1, the elements up to the next common
 * boundary stay whole.
 */
final class ReshapeFactors {
  private final Builder rule = new Builder();
  private final Side from;
  private final Side to;

  /** A shape and the position up to which it is decomposed. */
  private static final class Side {
    private final long[] extents;
    private final List<List<Integer>> factors = new ArrayList<>();
    private int dim;
    private long rest;

    Side(Shape shape) {
      extents = shape.extents();
      for (int i = 0; i < extents.length; i++) {
        factors.add(new ArrayList<>());
      }
      rest = extents.length == 0 ? 1 : extents[0];
      skip();
    }

    /** Advances to the next dimension that is not complete. */
    void skip() {
      while (rest == 1 && dim + 1 < extents.length) {
        dim++;
        rest = extents[dim];
      }
    }

    void take(int factor, long extent) {
      factors.get(dim).add(factor);
      rest /= extent;
      skip();
    }

    List<int[]> dims() {
      return factors.stream()
          .map(list -> list.stream().mapToInt(Integer::intValue).toArray())
          .toList();
    }
  }

  private ReshapeFactors(Shape from, Shape to) {
    this.from = new Side(from);
    this.to = new Side(to);
  }

  static FactorRule rule(Shape from, Shape to) {
    if (from.elements() == 0) {
      Builder rule = new Builder();
      return rule.operand(rule.whole(from)).result(rule.whole(to)).finish(MovementFactors.moved());
    }
    return new ReshapeFactors(from, to).rule();
  }

  private FactorRule rule() {
    while (from.rest > 1) {
      long common = Divisors.greatestCommon(from.rest, to.rest);
      if (common > 1) {
        int factor = rule.factor(Use.PARALLEL, common);
        from.take(factor, common);
        to.take(factor, common);
      } else {
        takeWhole();
      }
    }
    return rule.operand(from.dims()).result(to.dims()).finish(MovementFactors.moved());
  }

  /** Advances to the next common boundary. */
  private void takeWhole() {
    long taken = takeRest(from);
    long other = takeRest(to);
    while (taken != other) {
      if (taken < other) {
        taken *= takeRest(from);
      } else {
        other *= takeRest(to);
      }
    }
  }

  private long takeRest(Side side) {
    long extent = side.rest;
    side.take(rule.factor(Use.WHOLE, extent), extent);
    return extent;
  }
}
