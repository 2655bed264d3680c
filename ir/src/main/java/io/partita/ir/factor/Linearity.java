package io.partita.ir.factor;

import io.partita.ir.function.ReductionKind;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which operands may be partial, so that the result is. The result is a join of terms; a term is
 * linear in each of some operands. An operation whose every term has exactly one partial operand
 * gives a partial result; and a split {@link Factor.Use#SUM} (or maximum or minimum) factor makes
 * the <em>first</em> term partial as well, with none of its operands partial. A term without either
 * would be counted once for each device: its operand must first be made partial, which takes no
 * communication (one device keeps it, the others hold zeros). So a bias is added once.
 *
 * <p>For floats this holds but for rounding, and as long as no part overflows where the whole
 * doesn't.
 *
 * <p>{@code linear}: terms {x, weight} and {bias}. {@code add}: {left} and {right}. {@code
 * attention}: {v}.
 *
 * @param terms operand indices; none where nothing may be partial
 * @param kinds the kinds of partial values that pass
 */
public record Linearity(List<Set<Integer>> terms, Set<ReductionKind> kinds) {
  static final Set<ReductionKind> SUM = Set.of(ReductionKind.SUM);

  /** What only moves elements passes partial values of all kinds. */
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

  /** The term that an operand is in, or -1. */
  public int termOf(int operand) {
    for (int term = 0; term < terms.size(); term++) {
      if (terms.get(term).contains(operand)) {
        return term;
      }
    }
    return -1;
  }
}
