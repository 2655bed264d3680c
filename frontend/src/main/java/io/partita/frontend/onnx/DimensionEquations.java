package io.partita.frontend.onnx;

import io.partita.ir.op.TypeMismatch;
import io.partita.ir.type.Dim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The constraints that the graph imposes on the declared extents of its inputs.
 *
 * <p>An operation that requires two extents to be equal gives an equation if they differ as
 * polynomials. Its solution eliminates one symbol, and the import restarts with its value. This
 * terminates, because each solution leaves one symbol fewer.
 *
 * <p>Exporters also declare extents as expressions, such as {@code past_sequence_length + 1}, which
 * may hold only for the traced inputs. So before the first equation is solved, each declared
 * expression becomes a separate symbol. A symbol that no equation determines equals the end of a
 * slice of its axis, because slices of real models are in range, or else the declared expression.
 */
final class DimensionEquations {
  private final Map<String, Solution> solutions = new LinkedHashMap<>();

  /** The position of each symbol in the order of the inputs; later symbols are eliminated first. */
  private final Map<String, Integer> order = new HashMap<>();

  /** The declared expression of each such symbol. */
  private final Map<String, Dim> expressions = new LinkedHashMap<>();

  /** Candidates for symbols of expressions that nothing else determines. */
  private final Map<String, Solution> likely = new LinkedHashMap<>();

  private boolean expressionsAreSymbols;

  private record Solution(Dim extent, String requiredBy) {}

  /** Adds a symbol of an extent of an input. */
  void declare(String symbol) {
    order.putIfAbsent(symbol, order.size());
  }

  boolean isDeclared(String symbol) {
    return order.containsKey(symbol) || expressions.containsKey(symbol);
  }

  /**
   * Returns the extent of an axis with a declared expression: the expression unless it was
   * contradicted.
   *
   * @param symbol the name of the extent if it needs one
   */
  Dim expression(Dim declared, String symbol) {
    String own =
        expressions.entrySet().stream()
            .filter(known -> known.getValue().equals(declared))
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse(symbol);
    expressions.putIfAbsent(own, declared);
    return expressionsAreSymbols ? Dim.symbol(own) : declared;
  }

  /** Returns an extent with all known substitutions. */
  Dim resolve(Dim dim) {
    return solutions.isEmpty() ? dim : dim.bind(extents());
  }

  private Map<String, Dim> extents() {
    Map<String, Dim> extents = new HashMap<>();
    solutions.forEach((symbol, solution) -> extents.put(symbol, solution.extent()));
    return extents;
  }

  /** Restores the declared expressions of symbols that nothing determines. */
  Map<String, Dim> undetermined() {
    Map<String, Dim> open = new HashMap<>();
    if (expressionsAreSymbols) {
      expressions.forEach(
          (symbol, declared) -> {
            if (!solutions.containsKey(symbol)) {
              open.put(symbol, resolve(declared));
            }
          });
    }
    return open;
  }

  /** Returns the derived dimensions, in the order of their derivation. */
  List<DerivedDimension> derived() {
    List<DerivedDimension> derived = new ArrayList<>();
    solutions.forEach(
        (symbol, solution) ->
            derived.add(
                new DerivedDimension(
                    symbol,
                    solution.extent().bind(undetermined()),
                    solution.requiredBy(),
                    expressions.containsKey(symbol) ? expressions.get(symbol).toString() : "")));
    return derived;
  }

  /**
   * Adds an equation of two extents.
   *
   * @param where the node that requires it
   * @return whether it changes types of inputs, so that the import must restart; otherwise, it adds
   *     nothing or is contradictory
   */
  boolean learn(List<TypeMismatch.Equation> equations, String where) {
    if (equations.isEmpty()) {
      return false;
    }
    if (!expressionsAreSymbols && !expressions.isEmpty()) {
      expressionsAreSymbols = true;
      return true;
    }
    Map<String, Solution> before = new LinkedHashMap<>(solutions);
    for (TypeMismatch.Equation equation : equations) {
      if (!solve(resolve(equation.left()), resolve(equation.right()), where)) {
        solutions.clear();
        solutions.putAll(before);
        return false;
      }
    }
    return !solutions.equals(before);
  }

  /** Adds the end of a slice of an extent. */
  void slice(Dim extent, Dim end, String where) {
    String symbol = extent.toString();
    boolean isOpen = expressionsAreSymbols && expressions.containsKey(symbol) && !end.isStatic();
    if (isOpen && !end.symbols().contains(symbol)) {
      likely.putIfAbsent(symbol, new Solution(end, where));
    }
  }

  /** Assumes the ends of slices for undetermined symbols; returns whether there were any. */
  boolean assumeSliceEnds() {
    likely.keySet().removeAll(solutions.keySet());
    likely.forEach((symbol, end) -> eliminate(symbol, resolve(end.extent()), end.requiredBy()));
    boolean isChanged = !likely.isEmpty();
    likely.clear();
    return isChanged;
  }

  private boolean solve(Dim left, Dim right, String where) {
    Dim difference = primitive(left.minus(right));
    if (difference.is(0)) {
      return true;
    }
    Optional<String> symbol =
        difference.symbols().stream()
            .filter(this::isDeclared)
            .filter(candidate -> solution(difference, candidate).isPresent())
            .min(
                Comparator.comparingInt((String candidate) -> rank(candidate, left, right))
                    .thenComparingInt(candidate -> -order.getOrDefault(candidate, 0)));
    symbol.ifPresent(
        eliminated -> eliminate(eliminated, solution(difference, eliminated).get(), where));
    return symbol.isPresent();
  }

  /**
   * Orders symbols: those of expressions are eliminated first, then those that are one side of the
   * equation.
   */
  private int rank(String symbol, Dim left, Dim right) {
    if (expressions.containsKey(symbol)) {
      return 0;
    }
    Dim alone = Dim.symbol(symbol);
    return left.equals(alone) || right.equals(alone) ? 1 : 2;
  }

  private void eliminate(String symbol, Dim extent, String where) {
    Map<String, Dim> solved = Map.of(symbol, extent);
    solutions.replaceAll(
        (name, known) -> new Solution(known.extent().bind(solved), known.requiredBy()));
    solutions.put(symbol, new Solution(extent, where));
  }

  /** Removes factors that can't be 0: numbers and symbols. */
  private static Dim primitive(Dim difference) {
    if (difference.is(0)) {
      return difference;
    }
    Dim primitive = difference;
    for (String symbol : new TreeSet<>(difference.symbols())) {
      Dim factor = Dim.symbol(symbol);
      for (Dim less = primitive.dividedExactlyBy(factor);
          less != null;
          less = primitive.dividedExactlyBy(factor)) {
        primitive = less;
      }
    }
    long divisor = 0;
    for (Dim.Term term : primitive.terms()) {
      divisor = greatestDivisor(divisor, term.coefficient());
    }
    return primitive.dividedExactlyBy(Dim.of(divisor));
  }

  private static long greatestDivisor(long a, long b) {
    return b == 0 ? Math.absExact(a) : greatestDivisor(b, a % b);
  }

  /** Solves {@code difference = 0} for {@code symbol}; empty if the solution is not an extent. */
  private static Optional<Dim> solution(Dim difference, String symbol) {
    long coefficient = 0;
    for (Dim.Term term : difference.terms()) {
      if (term.symbols().contains(symbol)) {
        if (term.symbols().size() > 1 || coefficient != 0) {
          return Optional.empty();
        }
        coefficient = term.coefficient();
      }
    }
    if (Math.abs(coefficient) != 1) {
      return Optional.empty();
    }
    Dim rest = difference.minus(Dim.symbol(symbol).times(Dim.of(coefficient)));
    Dim extent = rest.times(Dim.of(-coefficient));
    boolean neverPositive = Dim.ZERO.minus(extent).isAtLeast(0);
    return neverPositive ? Optional.empty() : Optional.of(extent);
  }
}
