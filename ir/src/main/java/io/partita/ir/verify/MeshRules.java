package io.partita.ir.verify;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Placement;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.MeshCode;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.LayoutDerivation;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Checks the rules of the mesh dialect, for a module that satisfies those of all dialects:
 * operations accept the layouts of their operands, syncs are possible, varying values are settled
 * before outputs, and states have the same layout as input and output. Without devices, there are
 * no syncs.
 */
final class MeshRules {
  private final Module module;
  private final List<Diagnostic> violations = new ArrayList<>();

  private MeshRules(Module module) {
    this.module = module;
  }

  static List<Diagnostic> violations(Module module) {
    MeshRules rules = new MeshRules(module);
    module.placement().ifPresentOrElse(rules::placed, rules::unplaced);
    return rules.violations;
  }

  private void unplaced() {
    List<Node> nodes = module.graph().nodes();
    for (int i = 0; i < nodes.size(); i++) {
      if (nodes.get(i).op() instanceof Communication.Relayout
          || nodes.get(i).op() instanceof Communication.Variation) {
        violations.add(
            new Diagnostic(
                MeshCode.DIALECT,
                "node " + i + ": " + nodes.get(i),
                "a mesh for the change of layout",
                "a module without a mesh",
                ""));
      }
    }
  }

  private void placed(Placement placement) {
    LayoutDerivation derivation = new LayoutDerivation(placement.mesh());
    Map<String, Value> inputs = new HashMap<>();
    for (Value input : module.graph().inputs()) {
      inputs.put(input.name(), input);
      violations.addAll(derivation.input(input, placement.layout(input)));
    }
    placement.inputs().forEach((name, layout) -> input(name, layout, inputs.containsKey(name)));
    for (Node node : module.graph().nodes()) {
      violations.addAll(derivation.add(node));
    }
    Map<String, Value> outputs = new HashMap<>();
    for (Graph.Output output : module.graph().outputs()) {
      outputs.put(output.name(), output.value());
      output(output, derivation.layout(output.value()));
    }
    for (Module.State state : module.states()) {
      state(state, inputs.get(state.input()), outputs.get(state.output()), derivation);
    }
    if (violations.isEmpty()) {
      violations.addAll(OutcomeProof.violations(module));
    }
  }

  private void report(VerifierCode code, String where, String expected, String found) {
    violations.add(new Diagnostic(code, where, expected, found, ""));
  }

  private void input(String name, Layout layout, boolean isKnown) {
    String where = "placement of " + name;
    if (!isKnown) {
      report(VerifierCode.PLACEMENT, where, "the name of an input", name);
    } else if (!layout.varying().isEmpty()) {
      report(VerifierCode.PLACEMENT, where, "a layout that doesn't vary", layout.toString());
    }
  }

  private void output(Graph.Output output, Optional<Layout> layout) {
    if (layout.isPresent() && !layout.get().isJoined()) {
      violations.add(
          new Diagnostic(
              VerifierCode.OUTPUT_LAYOUT,
              "output " + output.name(),
              "a layout that is neither partial nor varying",
              new ShardedType(output.value().type(), layout.get()).toString(),
              layout.get().varying().isEmpty()
                  ? "add a sync of the output"
                  : "end the variation with settle"));
    }
  }

  private void state(Module.State state, Value input, Value output, LayoutDerivation derivation) {
    Optional<Layout> before = derivation.layout(input);
    Optional<Layout> after = derivation.layout(output);
    if (before.isPresent() && after.isPresent() && !before.equals(after)) {
      report(
          VerifierCode.STATE_LAYOUT,
          "state " + state.input() + " -> " + state.output(),
          new ShardedType(input.type(), before.get()).toString(),
          new ShardedType(output.type(), after.get()).toString());
    }
  }
}
