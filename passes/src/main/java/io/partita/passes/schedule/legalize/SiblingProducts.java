package io.partita.passes.schedule.legalize;

import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Computes products of the same value, of the same types, one after the other, such as the queries,
 * keys and values of a token: the code of their kernel is in the instruction cache for all but the
 * first.
 */
public final class SiblingProducts {
  /** Larger results aren't made early: they would need memory for longer, and their code little. */
  private static final long MOST_BYTES = 4096;

  private SiblingProducts() {}

  /**
   * Moves small products behind earlier ones.
   *
   * @param groups in an order in which each group's operands are computed before it
   * @return the groups in another such order. No group passes communication
   */
  public static List<Group> together(List<Group> groups) {
    List<Group> ordered = new ArrayList<>();
    for (Group group : groups) {
      ordered.add(place(group, ordered), group);
    }
    return ordered;
  }

  /** Returns the place behind the last sibling, if the group can be there, or else at the end. */
  private static int place(Group group, List<Group> before) {
    int end = before.size();
    if (!isSmall(group)) {
      return end;
    }
    Set<Node> needed = Collections.newSetFromMap(new IdentityHashMap<>());
    group.operands().stream()
        .filter(operand -> !operand.isInput())
        .forEach(operand -> needed.add(operand.definition()));
    for (int i = end - 1; i >= 0; i--) {
      Group earlier = before.get(i);
      if (areSiblings(earlier, group)) {
        return i + 1;
      }
      boolean isPassable =
          earlier.nodes().stream()
              .noneMatch(node -> node.op() instanceof Communication || needed.contains(node));
      if (!isPassable) {
        return end;
      }
    }
    return end;
  }

  private static boolean isSmall(Group group) {
    return group.results().stream().allMatch(result -> result.type().bytes() <= MOST_BYTES);
  }

  private static boolean areSiblings(Group one, Group other) {
    Optional<Node> product = product(one);
    return product.isPresent()
        && product(other)
            .filter(each -> types(each).equals(types(product.get())))
            .filter(each -> each.op().equals(product.get().op()))
            .filter(each -> share(each, product.get()))
            .isPresent();
  }

  private static Optional<Node> product(Group group) {
    Node node = group.first();
    return node.op() instanceof Contraction || node.op() instanceof Structured.Linear
        ? Optional.of(node)
        : Optional.empty();
  }

  private static List<TensorType> types(Node node) {
    return node.operands().stream().map(Value::type).toList();
  }

  private static boolean share(Node one, Node other) {
    return one.operands().stream()
        .filter(value -> value.isInput() || !(value.definition().op() instanceof Source))
        .anyMatch(value -> other.operands().stream().anyMatch(each -> each == value));
  }
}
