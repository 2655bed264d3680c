package io.partita.passes.graph.raise.linear;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import io.partita.passes.graph.raise.Parameters;
import io.partita.passes.rewrite.Match;
import io.partita.passes.rewrite.Pattern;
import io.partita.passes.rewrite.RewriteRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * {@code einsum(x, y) -> transpose(matmul(x, y))}, where the operands share summed indices and
 * possibly batch indices; and {@code einsum(x) -> transpose(x)}.
 */
final class ExpandEinsum implements RewriteRule {
  @Override
  public Class<? extends Op> root() {
    return Contraction.Einsum.class;
  }

  @Override
  public Pattern pattern() {
    return Pattern.any().where(value -> value.type().element().isFloat());
  }

  @Override
  public Optional<Value> apply(Node node, Match match, GraphEditor graph) {
    Contraction.Einsum einsum = (Contraction.Einsum) node.op();
    List<String> inputs = einsum.inputs();
    String output = einsum.output();
    if (!isDistinct(output) || !inputs.stream().allMatch(ExpandEinsum::isDistinct)) {
      return Optional.empty();
    }
    if (inputs.size() == 1 && inputs.getFirst().length() == output.length()) {
      return Optional.of(
          transposed(graph.operand(node, 0), permutation(inputs.getFirst(), output), graph));
    }
    if (inputs.size() != 2) {
      return Optional.empty();
    }
    // A weight is the second operand, so that the product is raised to a linear.
    boolean isExchanged = Parameters.isParameter(graph.operand(node, 0), graph);
    Indices left =
        new Indices(graph.operand(node, isExchanged ? 1 : 0), inputs.get(isExchanged ? 1 : 0));
    Indices right =
        new Indices(graph.operand(node, isExchanged ? 0 : 1), inputs.get(isExchanged ? 0 : 1));
    return product(left, right, output, graph);
  }

  private static boolean isDistinct(String letters) {
    return letters.chars().distinct().count() == letters.length();
  }

  /** A value, with a letter for each dimension. */
  private record Indices(Value value, String letters) {
    List<Dim> extents(String of) {
      return of.chars().mapToObj(c -> value.type().dim(letters.indexOf(c))).toList();
    }

    Dim size(String of) {
      return new Shape(extents(of)).size();
    }

    /** Merges each group of letters into one dimension, in this order. */
    Value arranged(List<String> groups, GraphEditor graph) {
      List<String> present = groups.stream().filter(group -> !group.isEmpty()).toList();
      List<String> stored =
          present.stream()
              .sorted(
                  (a, b) ->
                      Integer.compare(letters.indexOf(a.charAt(0)), letters.indexOf(b.charAt(0))))
              .toList();
      Value arranged;
      if (String.join("", stored).equals(letters)) {
        Shape merged = new Shape(stored.stream().map(this::size).toList());
        arranged =
            transposed(
                Parameters.reshaped(value, merged, graph),
                present.stream().map(stored::indexOf).toList(),
                graph);
      } else {
        arranged = transposed(value, permutation(letters, String.join("", present)), graph);
      }
      return Parameters.reshaped(
          arranged, new Shape(groups.stream().map(this::size).toList()), graph);
    }
  }

  private static Optional<Value> product(
      Indices left, Indices right, String output, GraphEditor graph) {
    String shared = kept(output, left.letters(), right.letters());
    String rows = kept(output, left.letters(), "");
    String columns = kept(output, right.letters(), "");
    rows = without(rows, shared);
    columns = without(columns, shared);
    String summed = without(kept(left.letters(), right.letters(), ""), shared);
    boolean isProduct =
        !summed.isEmpty()
            && shared.length() + rows.length() + summed.length() == left.letters().length()
            && shared.length() + columns.length() + summed.length() == right.letters().length();
    if (!isProduct) {
      return Optional.empty();
    }
    // Rows of two activations aren't merged: they may be groups of queries of a kv head, and scores
    // are reshaped and masked with heads apart.
    boolean areApart =
        !rows.isEmpty() && (shared.isEmpty() || !Parameters.isParameter(right.value(), graph));
    List<String> batch = letters(shared);
    List<String> leftGroups = new ArrayList<>(batch);
    leftGroups.addAll(areApart ? letters(rows) : List.of(rows));
    leftGroups.add(summed);
    List<String> rightGroups = new ArrayList<>(batch);
    if (areApart && !shared.isEmpty()) {
      rightGroups.addAll(Collections.nCopies(rows.length() - 1, ""));
    }
    rightGroups.addAll(List.of(summed, columns));
    Value product =
        graph.add(
            new Contraction.MatMul(left.value().type().element()),
            left.arranged(leftGroups, graph),
            right.arranged(rightGroups, graph));
    List<Dim> extents = new ArrayList<>(left.extents(shared + rows));
    extents.addAll(right.extents(columns));
    Value result = Parameters.reshaped(product, new Shape(extents), graph);
    return Optional.of(transposed(result, permutation(shared + rows + columns, output), graph));
  }

  /** The letters that all three have, where the last isn't empty. */
  private static String kept(String letters, String first, String second) {
    StringBuilder kept = new StringBuilder();
    for (char letter : letters.toCharArray()) {
      if (first.indexOf(letter) >= 0 && (second.isEmpty() || second.indexOf(letter) >= 0)) {
        kept.append(letter);
      }
    }
    return kept.toString();
  }

  private static String without(String letters, String others) {
    StringBuilder rest = new StringBuilder();
    for (char letter : letters.toCharArray()) {
      if (others.indexOf(letter) < 0) {
        rest.append(letter);
      }
    }
    return rest.toString();
  }

  private static List<String> letters(String letters) {
    return letters.chars().mapToObj(Character::toString).toList();
  }

  private static List<Integer> permutation(String from, String to) {
    return to.chars().mapToObj(from::indexOf).toList();
  }

  private static Value transposed(Value value, List<Integer> permutation, GraphEditor graph) {
    return permutation.equals(IntStream.range(0, permutation.size()).boxed().toList())
        ? value
        : graph.add(new Movement.Transpose(permutation), value);
  }
}
