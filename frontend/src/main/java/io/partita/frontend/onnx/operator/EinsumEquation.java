package io.partita.frontend.onnx.operator;

import io.partita.frontend.onnx.NodeScope;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Contraction;
import io.partita.ir.type.Dim;
import io.partita.ir.type.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** An Einsum with an explicit equation. */
final class EinsumEquation {
  private static final String ELLIPSIS = "...";

  private final NodeScope node;
  private final List<String> terms = new ArrayList<>();

  private EinsumEquation(NodeScope node) {
    this.node = node;
  }

  static void convert(NodeScope node) {
    new EinsumEquation(node).convert();
  }

  private void convert() {
    String equation = node.text("equation", "").replaceAll("\\s", "");
    String[] sides = equation.split("->", -1);
    terms.addAll(List.of(sides[0].split(",", -1)));
    if (sides.length > 2
        || terms.size() != node.inputs()
        || !equation.replace(ELLIPSIS, "").matches("[A-Za-z,]*(->[A-Za-z]*)?")) {
      throw node.invalid("an equation for " + node.inputs() + " operands", equation);
    }
    String batch = batchLetters(equation);
    String output = sides.length == 2 ? sides[1] : implicitOutput();
    List<Value> operands = new ArrayList<>();
    for (int i = 0; i < terms.size(); i++) {
      int rank = node.shape(i).rank() - terms.get(i).replace(ELLIPSIS, "").length();
      if (rank < 0 || rank > 0 && !terms.get(i).contains(ELLIPSIS)) {
        throw node.invalid("an index for each dimension of " + node.shape(i), terms.get(i));
      }
      // An operand with fewer batch dimensions has the last ones.
      terms.set(i, terms.get(i).replace(ELLIPSIS, batch.substring(batch.length() - rank)));
      operands.add(node.input(i));
    }
    stretch(operands);
    String explicit = String.join(",", terms) + "->" + output.replace(ELLIPSIS, batch);
    node.output(0, node.add(new Contraction.Einsum(explicit), operands));
  }

  /** Returns unused letters for the dimensions of ellipses. */
  private String batchLetters(String equation) {
    int rank = 0;
    for (int i = 0; i < terms.size(); i++) {
      if (terms.get(i).contains(ELLIPSIS)) {
        rank = Math.max(rank, node.shape(i).rank() - (terms.get(i).length() - 3));
      }
    }
    StringBuilder letters = new StringBuilder();
    for (char letter : "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".toCharArray()) {
      if (letters.length() < rank && equation.indexOf(letter) < 0) {
        letters.append(letter);
      }
    }
    if (letters.length() < rank) {
      throw node.unsupported("more than 52 indices", "use fewer dimensions");
    }
    return letters.toString();
  }

  /**
   * Returns the implicit output: the batch dimensions, then indices with one use, in alphabetical
   * order.
   */
  private String implicitOutput() {
    Map<Character, Integer> counts = new TreeMap<>();
    boolean batched = false;
    for (String term : terms) {
      batched |= term.contains(ELLIPSIS);
      for (char letter : term.replace(ELLIPSIS, "").toCharArray()) {
        counts.merge(letter, 1, Integer::sum);
      }
    }
    StringBuilder output = new StringBuilder(batched ? ELLIPSIS : "");
    counts.forEach(
        (letter, count) -> {
          if (count == 1) {
            output.append(letter);
          }
        });
    return output.toString();
  }

  /** Broadcasts extents of 1 to the extents of other operands. */
  private void stretch(List<Value> operands) {
    Map<Character, Dim> extents = new TreeMap<>();
    for (int i = 0; i < operands.size(); i++) {
      for (int axis = 0; axis < terms.get(i).length(); axis++) {
        Dim dim = operands.get(i).type().dim(axis);
        extents.merge(terms.get(i).charAt(axis), dim, (old, now) -> old.is(1) ? now : old);
      }
    }
    for (int i = 0; i < operands.size(); i++) {
      Shape shape = operands.get(i).type().shape();
      for (int axis = 0; axis < terms.get(i).length(); axis++) {
        if (shape.dim(axis).is(1)) {
          shape = shape.with(axis, extents.get(terms.get(i).charAt(axis)));
        }
      }
      operands.set(i, new Arithmetic(node).broadcast(operands.get(i), shape));
    }
  }
}
