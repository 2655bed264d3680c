package io.partita.passes.schedule;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The nodes without kernel, with equal ones grouped. */
final class Unsupported {
  private final Map<String, Set<String>> nodes = new LinkedHashMap<>();

  /**
   * @param reason a reason beyond the missing kernel; may be empty
   */
  void add(Node node, String reason) {
    String what =
        node.op().mnemonic()
            + node.operands().stream()
                .map(operand -> operand.type().toString())
                .collect(Collectors.joining(", ", " of ", ""))
            + node.results().stream()
                .map(result -> result.type().toString())
                .collect(Collectors.joining(", ", " that gives ", ""))
            + (reason.isEmpty() ? "" : ", " + reason);
    nodes.computeIfAbsent(what, key -> new LinkedHashSet<>()).add('"' + node.name() + '"');
  }

  /**
   * @throws PartitaException with a {@link ScheduleCode#NO_KERNEL} for each group
   */
  void require() {
    if (!nodes.isEmpty()) {
      throw new PartitaException(
          nodes.entrySet().stream()
              .map(
                  each ->
                      new Diagnostic(
                          ScheduleCode.NO_KERNEL,
                          "node " + String.join(", ", each.getValue()),
                          "an operation and element types that a kernel of the runtime computes",
                          each.getKey(),
                          "use other operations or element types, such as f32 or i8;"
                              + " the Java backend supports all operations"))
              .toList());
    }
  }
}
