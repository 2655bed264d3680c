package io.partita.passes.schedule.legalize;

import io.partita.ir.function.BinaryFunction;
import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Replaces an einsum of two operands by a matrix product between reshapes and transposes, and one
 * of one operand by a sum and a transpose. An einsum of more operands becomes one of two after the
 * other, first the two whose product has the fewest indices. An einsum in which an operand repeats
 * an index is kept.
 */
final class SplitEinsum implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Contraction.Einsum.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.result(Contraction.Einsum.class, SplitEinsum::isProductOrSum);
  }

  /** A value with the letters of its dimensions. */
  private record Term(Value value, String letters) {
    long extents(String chosen) {
      return chosen.chars().mapToLong(letter -> extent((char) letter)).reduce(1, (x, y) -> x * y);
    }

    long extent(char letter) {
      return value.type().shape().extent(letters.indexOf(letter));
    }
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Contraction.Einsum einsum = (Contraction.Einsum) node.op();
    List<String> inputs = einsum.inputs();
    if (inputs.size() > 2) {
      return Optional.of(paired(node, einsum, graph));
    }
    List<Term> terms = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      String others = einsum.output() + (inputs.size() == 2 ? inputs.get(1 - i) : "");
      terms.add(sum(new Term(graph.operand(node, i), inputs.get(i)), others, graph));
    }
    Term result = terms.size() == 1 ? terms.getFirst() : product(terms, einsum.output(), graph);
    return Optional.of(arranged(result, einsum.output(), graph).value());
  }

  private static boolean isProductOrSum(Contraction.Einsum einsum) {
    return einsum.inputs().stream().noneMatch(SplitEinsum::repeats) && !repeats(einsum.output());
  }

  /** Multiplies two of the operands first. */
  private static Value paired(Node node, Contraction.Einsum einsum, GraphEditor graph) {
    List<String> inputs = new ArrayList<>(einsum.inputs());
    int first = 0;
    int second = 1;
    for (int i = 0; i < inputs.size(); i++) {
      for (int j = i + 1; j < inputs.size(); j++) {
        if (kept(einsum, i, j).length() < kept(einsum, first, second).length()) {
          first = i;
          second = j;
        }
      }
    }
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      values.add(graph.operand(node, i));
    }
    String letters = kept(einsum, first, second);
    String equation = inputs.get(first) + "," + inputs.get(second) + "->" + letters;
    Value product =
        graph.add(new Contraction.Einsum(equation), values.get(first), values.get(second));
    inputs.remove(second);
    values.remove(second);
    inputs.set(first, letters);
    values.set(first, product);
    return graph.add(
        new Contraction.Einsum(String.join(",", inputs) + "->" + einsum.output()),
        values.toArray(Value[]::new));
  }

  /** The indices of a product of two operands that the result or other operands have. */
  private static String kept(Contraction.Einsum einsum, int first, int second) {
    List<String> inputs = einsum.inputs();
    StringBuilder others = new StringBuilder(einsum.output());
    for (int i = 0; i < inputs.size(); i++) {
      others.append(i == first || i == second ? "" : inputs.get(i));
    }
    String left = inputs.get(first);
    return common(left + without(inputs.get(second), left), others.toString());
  }

  private static boolean repeats(String letters) {
    return letters.chars().distinct().count() < letters.length();
  }

  /** Sums over indices that no other operand or the result has. */
  private static Term sum(Term term, String others, GraphEditor graph) {
    List<Integer> axes = new ArrayList<>();
    for (int axis = 0; axis < term.letters.length(); axis++) {
      if (others.indexOf(term.letters.charAt(axis)) < 0) {
        axes.add(axis);
      }
    }
    if (axes.isEmpty()) {
      return term;
    }
    Reduction.Reduce sum = new Reduction.Reduce(ReductionKind.SUM, axes, false);
    return new Term(graph.add(sum, term.value), common(term.letters, others));
  }

  private static Term product(List<Term> terms, String output, GraphEditor graph) {
    Term left = terms.get(0);
    Term right = terms.get(1);
    String shared = common(left.letters, right.letters);
    String batch = common(shared, output);
    String depth = without(shared, output);
    String rows = without(left.letters, shared);
    String columns = without(right.letters, shared);
    Shape leftMatrix = Shape.of(left.extents(batch), left.extents(rows), left.extents(depth));
    Shape rightMatrix = Shape.of(left.extents(batch), left.extents(depth), right.extents(columns));
    Value leftValue = arranged(left, batch + rows + depth, graph).value;
    Value rightValue = arranged(right, batch + depth + columns, graph).value;
    ElementType element = left.value.type().element();
    // Products of 64-bit integers have no kernel, but nothing is summed in an outer product.
    boolean isOuter = depth.isEmpty() && element.isInteger();
    Value sums =
        graph.add(
            isOuter ? new Elementwise.Binary(BinaryFunction.MUL) : new Contraction.MatMul(element),
            graph.add(new Movement.Reshape(leftMatrix), leftValue),
            graph.add(new Movement.Reshape(rightMatrix), rightValue));
    Map<Character, Dim> extents = new HashMap<>();
    (batch + rows).chars().forEach(c -> extents.put((char) c, Dim.of(left.extent((char) c))));
    columns.chars().forEach(c -> extents.put((char) c, Dim.of(right.extent((char) c))));
    String letters = batch + rows + columns;
    Shape shape = new Shape(letters.chars().mapToObj(c -> extents.get((char) c)).toList());
    return new Term(graph.add(new Movement.Reshape(shape), sums), letters);
  }

  private static Term arranged(Term term, String letters, GraphEditor graph) {
    List<Integer> permutation =
        letters.chars().mapToObj(letter -> term.letters.indexOf(letter)).toList();
    return new Term(graph.add(new Movement.Transpose(permutation), term.value), letters);
  }

  private static String common(String letters, String others) {
    return letters.replaceAll(others.isEmpty() ? "." : "[^" + others + "]", "");
  }

  private static String without(String letters, String others) {
    return others.isEmpty() ? letters : letters.replaceAll("[" + others + "]", "");
  }
}
