package io.partita.passes.schedule.legalize;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Reduction;
import io.partita.ir.type.Dim;
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
 * of one operand by a sum and a transpose. An einsum in which an operand repeats an index is kept.
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
    List<Term> terms = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      String others = einsum.output() + (inputs.size() == 2 ? inputs.get(1 - i) : "");
      terms.add(sum(new Term(graph.operand(node, i), inputs.get(i)), others, graph));
    }
    Term result = terms.size() == 1 ? terms.getFirst() : product(terms, einsum.output(), graph);
    return Optional.of(arranged(result, einsum.output(), graph).value());
  }

  private static boolean isProductOrSum(Contraction.Einsum einsum) {
    return einsum.inputs().size() <= 2
        && einsum.inputs().stream().noneMatch(SplitEinsum::repeats)
        && !repeats(einsum.output());
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
    Value sums =
        graph.add(
            new Contraction.MatMul(left.value.type().element()),
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
