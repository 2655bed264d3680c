package io.partita.ir.factor;

import io.partita.ir.function.ReductionKind;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The operands that may be partial, which makes the result partial. The result is a reduction of
 * terms, each of which is linear in each of some operands. If every term has exactly one partial
 * operand, the result is partial; a split {@link Factor.Use#SUM} (or maximum or minimum) factor
 * also makes the <em>first</em> term partial, without partial operands. A term with neither would
 * count once for each device: its operand must first be made partial, which needs no communication,
 * because one device keeps it and the others have zeros. So a bias is added once.
 *
 * <p>For floats this holds apart from rounding, if no part overflows when the whole doesn't.
 *
 * <p>{@code linear}: terms {x, weight} and {bias}. {@code add}: {left} and {right}. {@code
 * attention}: {v}.
 *
 * @param terms the operand indices of terms; empty if nothing may be partial
 * @param kinds the supported kinds of partial values
 */
public record Linearity(List<Set<Integer>> terms, Set<ReductionKind> kinds) {
  static final Set<ReductionKind> SUM = Set.of(ReductionKind.SUM);

  /** Movements pass partial values of all kinds. */
  static final Set<ReductionKind> ANY =
      Arrays.stream(ReductionKind.values())
          .filter(ReductionKind::joinsTerms)
          .collect(Collectors.toUnmodifiableSet());

  static final Linearity NONE = new Linearity(List.of(), Set.of());

  public Linearity {
    terms = List.copyOf(terms);
    kinds = Set.copyOf(kinds);
  }

  static Linearity of(Set<ReductionKind> kinds, Set<Integer> term) {
    return new Linearity(List.of(term), kinds);
  }

  static Linearity of(Set<ReductionKind> kinds, Set<Integer> first, Set<Integer> second) {
    return new Linearity(List.of(first, second), kinds);
  }

  /** Returns the term of an operand, or -1. */
  public int termOf(int operand) {
    for (int term = 0; term < terms.size(); term++) {
      if (terms.get(term).contains(operand)) {
        return term;
      }
    }
    return -1;
  }
}
