package io.partita.ir.type;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The extent of one dimension: an integer polynomial over named symbols, such as {@code 128},
 * {@code seq} or {@code 4*past + 4}.
 *
 * <p>The form is canonical, so equal polynomials are equal objects. A symbol stands for an extent
 * that is not known when the model is read; it is at least 1.
 */
public final class Dim implements Comparable<Dim> {
  /** The largest number of terms and powers, which bounds products of sums. */
  private static final int MAX_TERMS = 1000;

  private static final int HIGHEST_DEGREE = 64;

  public static final Dim ZERO = of(0);
  public static final Dim ONE = of(1);

  /**
   * The coefficients by monomial, which is the sorted list of its symbols; the empty one is the
   * constant.
   */
  private final SortedMap<Monomial, Long> terms;

  private record Monomial(List<String> symbols) implements Comparable<Monomial> {
    static final Monomial UNIT = new Monomial(List.of());

    Monomial times(Monomial other) {
      List<String> all = new ArrayList<>(symbols);
      all.addAll(other.symbols);
      if (all.size() > HIGHEST_DEGREE) {
        throw new ArithmeticException("a dimension of degree over " + HIGHEST_DEGREE);
      }
      all.sort(null);
      return new Monomial(List.copyOf(all));
    }

    /** The order of terms: by descending degree, then by name, with the constant last. */
    @Override
    public int compareTo(Monomial other) {
      int byDegree = Integer.compare(other.symbols.size(), symbols.size());
      for (int i = 0; byDegree == 0 && i < symbols.size(); i++) {
        byDegree = symbols.get(i).compareTo(other.symbols.get(i));
      }
      return byDegree;
    }
  }

  /** A term: a nonzero coefficient times symbols in order, each repeated by its power. */
  public record Term(long coefficient, List<String> symbols) {}

  /** The value of a constant, cached because most dimensions are numbers. */
  private final boolean isNumber;

  private final long constantTerm;

  private Dim(SortedMap<Monomial, Long> terms) {
    this.terms = terms;
    this.isNumber = terms.isEmpty() || (terms.size() == 1 && terms.containsKey(Monomial.UNIT));
    this.constantTerm = terms.getOrDefault(Monomial.UNIT, 0L);
  }

  public static Dim of(long extent) {
    SortedMap<Monomial, Long> terms = new TreeMap<>();
    if (extent != 0) {
      terms.put(Monomial.UNIT, extent);
    }
    return new Dim(terms);
  }

  public static Dim symbol(String name) {
    if (name.isEmpty()) {
      throw new IllegalArgumentException("a dimension symbol needs a name");
    }
    SortedMap<Monomial, Long> terms = new TreeMap<>();
    terms.put(new Monomial(List.of(name)), 1L);
    return new Dim(terms);
  }

  public boolean isStatic() {
    return isNumber;
  }

  /** Whether this is a single symbol. */
  public boolean isSymbol() {
    return terms.size() == 1
        && terms.firstKey().symbols().size() == 1
        && terms.get(terms.firstKey()) == 1;
  }

  /**
   * Returns the extent.
   *
   * @throws IllegalStateException if it depends on a symbol
   */
  public long value() {
    if (!isStatic()) {
      throw new IllegalStateException("dimension " + this + " is not bound to a number");
    }
    return constantTerm;
  }

  public boolean is(long extent) {
    return isNumber && constantTerm == extent;
  }

  /**
   * @throws ArithmeticException if a coefficient overflows, or the polynomial is too long
   */
  public Dim plus(Dim other) {
    SortedMap<Monomial, Long> sum = new TreeMap<>(terms);
    other.terms.forEach((monomial, coefficient) -> merge(sum, monomial, coefficient));
    return new Dim(sum);
  }

  public Dim plus(long other) {
    return plus(of(other));
  }

  public Dim minus(Dim other) {
    return plus(other.times(of(-1)));
  }

  /**
   * @throws ArithmeticException if a coefficient overflows, or the polynomial is too long
   */
  public Dim times(Dim other) {
    SortedMap<Monomial, Long> product = new TreeMap<>();
    terms.forEach(
        (left, a) ->
            other.terms.forEach(
                (right, b) -> merge(product, left.times(right), Math.multiplyExact(a, b))));
    return new Dim(product);
  }

  private static void merge(SortedMap<Monomial, Long> into, Monomial monomial, long coefficient) {
    long sum = Math.addExact(into.getOrDefault(monomial, 0L), coefficient);
    if (sum == 0) {
      into.remove(monomial);
    } else {
      into.put(monomial, sum);
      if (into.size() > MAX_TERMS) {
        throw new ArithmeticException("a dimension of over " + MAX_TERMS + " terms");
      }
    }
  }

  /** Returns the exact quotient, or null if there is none, by polynomial long division. */
  public Dim dividedExactlyBy(Dim divisor) {
    if (divisor.terms.isEmpty()) {
      return null;
    }
    Monomial lead = divisor.terms.firstKey();
    long leadCoefficient = divisor.terms.get(lead);
    Dim quotient = ZERO;
    Dim remainder = this;
    for (int steps = 0; !remainder.terms.isEmpty(); steps++) {
      Monomial top = remainder.terms.firstKey();
      long topCoefficient = remainder.terms.get(top);
      List<String> rest = new ArrayList<>(top.symbols());
      for (String symbol : lead.symbols()) {
        if (!rest.remove(symbol)) {
          return null;
        }
      }
      if (topCoefficient % leadCoefficient != 0 || steps > 64) {
        return null;
      }
      SortedMap<Monomial, Long> term = new TreeMap<>();
      term.put(new Monomial(List.copyOf(rest)), topCoefficient / leadCoefficient);
      Dim step = new Dim(term);
      quotient = quotient.plus(step);
      remainder = remainder.minus(step.times(divisor));
    }
    return quotient;
  }

  /** Whether this is at least {@code bound} for all values of symbols of at least 1. */
  public boolean isAtLeast(long bound) {
    long smallest = 0;
    for (Map.Entry<Monomial, Long> term : terms.entrySet()) {
      if (term.getValue() < 0 && !term.getKey().symbols().isEmpty()) {
        return false;
      }
      smallest += term.getValue();
    }
    return smallest >= bound;
  }

  public SortedSet<String> symbols() {
    SortedSet<String> names = new TreeSet<>();
    terms.keySet().forEach(monomial -> names.addAll(monomial.symbols()));
    return names;
  }

  /** Returns the terms in printed order; none for 0. */
  public List<Term> terms() {
    return terms.entrySet().stream()
        .map(term -> new Term(term.getValue(), term.getKey().symbols()))
        .toList();
  }

  /** Returns the number of terms, at least 1. */
  public int length() {
    return Math.max(1, terms.size());
  }

  /** Substitutes the symbols in {@code extents}. */
  public Dim bind(Map<String, Dim> extents) {
    if (isStatic()) {
      return this;
    }
    Dim sum = ZERO;
    for (Map.Entry<Monomial, Long> term : terms.entrySet()) {
      Dim product = of(term.getValue());
      for (String symbol : term.getKey().symbols()) {
        product = product.times(extents.getOrDefault(symbol, symbol(symbol)));
      }
      sum = sum.plus(product);
    }
    return sum;
  }

  @Override
  public int compareTo(Dim other) {
    return isStatic() && other.isStatic()
        ? Long.compare(value(), other.value())
        : toString().compareTo(other.toString());
  }

  @Override
  public boolean equals(Object other) {
    return this == other
        || other instanceof Dim dim
            && isNumber == dim.isNumber
            && constantTerm == dim.constantTerm
            && (isNumber || terms.equals(dim.terms));
  }

  @Override
  public int hashCode() {
    return isNumber ? Long.hashCode(constantTerm) : terms.hashCode();
  }

  @Override
  public String toString() {
    if (terms.isEmpty()) {
      return "0";
    }
    StringBuilder text = new StringBuilder();
    terms.forEach(
        (monomial, coefficient) -> {
          if (!text.isEmpty() && coefficient >= 0) {
            text.append('+');
          }
          String symbols = String.join("*", monomial.symbols());
          if (symbols.isEmpty()) {
            text.append(coefficient);
          } else if (coefficient == 1) {
            text.append(symbols);
          } else if (coefficient == -1) {
            text.append('-').append(symbols);
          } else {
            text.append(coefficient).append('*').append(symbols);
          }
        });
    return text.toString();
  }
}
