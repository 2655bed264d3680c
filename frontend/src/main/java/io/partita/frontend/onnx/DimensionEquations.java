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
 * What the graph requires of the extents that its inputs declare.
 *
 * <p>An operation that needs two extents to be equal which differ as polynomials gives an equation.
 * Solving it eliminates one symbol: the import then starts again with what the symbol stands for.
 * Each solution leaves a symbol fewer, so this ends.
 *
 * <p>Exporters also declare extents as expressions, such as {@code past_sequence_length + 1}, which
 * may only be true for the inputs that they traced. So before the first equation is solved, each
 * declared expression becomes a symbol of its own. Where nothing then determines it, it is what a
 * slice takes of it, since models are written for slices that lie inside; and else the declared
 * expression is true after all.
 */
final class DimensionEquations {
  private final Map<String, Solution> solutions = new LinkedHashMap<>();

  /** Position of each symbol in the order of the inputs: later ones are eliminated first. */
  private final Map<String, Integer> order = new HashMap<>();

  /** What the model declares for the symbol of an expression. */
  private final Map<String, Dim> expressions = new LinkedHashMap<>();

  /** What symbols of expressions may be, should nothing else determine them. */
  private final Map<String, Solution> likely = new LinkedHashMap<>();

  private boolean expressionsYield;

  private record Solution(Dim extent, String requiredBy) {}

  /** Tells of a symbol that stands for an extent of an input. */
  void declare(String symbol) {
    order.putIfAbsent(symbol, order.size());
  }

  boolean isDeclared(String symbol) {
    return order.containsKey(symbol) || expressions.containsKey(symbol);
  }

  /**
   * The extent of an axis that the model declares as an expression of symbols: the expression
   * itself as long as nothing contradicts it.
   *
   * @param symbol a name for the extent, should it need one
   */
  Dim expression(Dim declared, String symbol) {
    String own =
        expressions.entrySet().stream()
            .filter(known -> known.getValue().equals(declared))
            .map(Map.Entry::getKey)
            .findFirst()
            .orElse(symbol);
    expressions.putIfAbsent(own, declared);
    return expressionsYield ? Dim.symbol(own) : declared;
  }

  /** What an extent is by all that is known. */
  Dim resolve(Dim dim) {
    return solutions.isEmpty() ? dim : dim.bind(extents());
  }

  private Map<String, Dim> extents() {
    Map<String, Dim> extents = new HashMap<>();
    solutions.forEach((symbol, solution) -> extents.put(symbol, solution.extent()));
    return extents;
  }

  /** The expressions that the model declares, for the symbols of them that nothing determines. */
  Map<String, Dim> undetermined() {
    Map<String, Dim> open = new HashMap<>();
    if (expressionsYield) {
      expressions.forEach(
          (symbol, declared) -> {
            if (!solutions.containsKey(symbol)) {
              open.put(symbol, resolve(declared));
            }
          });
    }
    return open;
  }

  /** What was learned, in the order in which it was. */
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
   * Takes in that extents are equal.
   *
   * @param where the node that requires it
   * @return whether that changes what inputs are, so that the import has to start again; if not,
   *     the equations contradict each other or what is known
   */
  boolean learn(List<TypeMismatch.Equation> equations, String where) {
    if (equations.isEmpty()) {
      return false;
    }
    if (!expressionsYield && !expressions.isEmpty()) {
      expressionsYield = true;
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

  /** Takes in that a slice ends at an index of an extent. */
  void slice(Dim extent, Dim end, String where) {
    String symbol = extent.toString();
    boolean isOpen = expressionsYield && expressions.containsKey(symbol) && !end.isStatic();
    if (isOpen && !end.symbols().contains(symbol)) {
      likely.putIfAbsent(symbol, new Solution(end, where));
    }
  }

  /** Believes what slices end at, as far as nothing else is known; returns whether that's news. */
  boolean believeSlices() {
    likely.keySet().removeAll(solutions.keySet());
    likely.forEach((symbol, end) -> eliminate(symbol, resolve(end.extent()), end.requiredBy()));
    boolean isNews = !likely.isEmpty();
    likely.clear();
    return isNews;
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
                Comparator.comparing((String candidate) -> rank(candidate, left, right))
                    .thenComparing(candidate -> -order.getOrDefault(candidate, 0)));
    symbol.ifPresent(
        eliminated -> eliminate(eliminated, solution(difference, eliminated).get(), where));
    return symbol.isPresent();
  }

  /** Expressions yield first, then a symbol that is a side of its own. */
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

  /** Without factors that can't be 0: numbers and symbols. */
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

  /** What {@code symbol} is where {@code difference} is 0; none where that isn't an extent. */
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
