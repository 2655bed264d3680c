package io.partita.passes.planning.search;

import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.MeshAxis;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Op;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.schedule.Packing;
import io.partita.passes.program.values.StoredConstants;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The memory cost of splitting a model: bytes that devices store beyond those of the model.
 *
 * @param modelBytes the bytes of constants and states of the whole model
 * @param deviceBytes their bytes on all devices together
 * @param causes the replicated constants and states, the most bytes first
 */
public record Replication(long modelBytes, long deviceBytes, List<Cause> causes) {
  /**
   * @param what the operation that uses it, such as {@code norm}
   * @param along the mesh axes along which devices hold the same
   * @param count the number of constants or states
   * @param wholeBytes their bytes in the model
   * @param addedBytes the additional bytes on all devices
   */
  public record Cause(
      String what, List<String> along, int count, long wholeBytes, long addedBytes) {
    public Cause {
      along = List.copyOf(along);
    }

    /** {@code linear along group}. */
    public String text() {
      return along.isEmpty() ? what : what + " along " + String.join(" and ", along);
    }
  }

  public Replication {
    causes = List.copyOf(causes);
  }

  /**
   * @param module the module before it was split
   * @param weights how the constant matrices of products are stored
   */
  public static Replication of(Module module, CandidatePlan plan, Packing weights) {
    Graph graph = plan.module().graph();
    Mesh mesh = plan.module().placement().orElseThrow().mesh();
    LayoutInference layouts = LayoutInference.of(plan.module());
    Map<Value, List<Node>> readers = graph.readers();
    StoredConstants stored = new StoredConstants(weights, readers);
    SequencedMap<String, Cause> causes = new TreeMap<>();
    Set<String> states = states(plan.module());
    for (Value input : graph.inputs()) {
      if (states.contains(input.name())) {
        add(causes, "KV cache", input, List.of(layouts.layout(input)), mesh, stored);
      }
    }
    for (Node node : graph.nodes()) {
      if (node.op() instanceof Source.Constant) {
        List<Layout> read = read(node, readers, layouts);
        add(causes, reader(node, readers), node.result(), read, mesh, stored);
      }
    }
    long whole = bytes(module, weights);
    long padded = bytes(plan.module(), weights) - whole;
    if (padded > 0) {
      causes.put("padding", new Cause("padding", List.of(), 1, 0, padded));
    }
    List<Cause> sorted = new ArrayList<>(causes.values());
    sorted.sort(java.util.Comparator.comparingLong(Cause::addedBytes).reversed());
    long local =
        plan.program().devices().stream().mapToLong(device -> bytes(device, weights)).sum();
    return new Replication(whole, local, sorted);
  }

  private static void add(
      Map<String, Cause> causes,
      String what,
      Value value,
      List<Layout> layouts,
      Mesh mesh,
      StoredConstants stored) {
    long bytes = 0;
    for (int device = 0; device < mesh.devices(); device++) {
      long most = 0;
      for (Layout layout : layouts) {
        most = Math.max(most, bytes(value, layout, mesh, device, stored));
      }
      bytes += most;
    }
    long once = stored.bytes(value, value.type());
    if (bytes > once) {
      Cause cause = new Cause(what, copied(layouts, mesh), 1, once, bytes - once);
      causes.merge(cause.text(), cause, Replication::sum);
    }
  }

  /** Returns the axes along which all layouts are replicated. */
  private static List<String> copied(List<Layout> layouts, Mesh mesh) {
    List<String> axes = new ArrayList<>();
    for (MeshAxis axis : mesh.axes()) {
      String name = axis.name();
      boolean copies =
          layouts.stream()
              .allMatch(
                  layout ->
                      layout.splitBy(name) < 0
                          && !layout.at().containsKey(name)
                          && !layout.partial().containsKey(name));
      if (copies && axis.size() > 1) {
        axes.add(name);
      }
    }
    return axes;
  }

  private static long bytes(
      Value value, Layout layout, Mesh mesh, int device, StoredConstants stored) {
    // A value that becomes a term of a sum stays on the first device.
    boolean isKept =
        layout.partial().keySet().stream().allMatch(axis -> mesh.coordinate(device, axis) == 0);
    return isKept && layout.holds(device)
        ? stored.bytes(value, layout.localType(value.type(), device))
        : 0;
  }

  /** Returns the layouts in which a constant is used. */
  private static List<Layout> read(
      Node constant, Map<Value, List<Node>> readers, LayoutInference layouts) {
    List<Layout> found = new ArrayList<>();
    for (Node reader : readers.getOrDefault(constant.result(), List.of())) {
      found.add(
          reader.op() instanceof Communication.Relayout change
              ? change.to()
              : layouts.layout(constant.result()));
    }
    return found;
  }

  private static Cause sum(Cause one, Cause other) {
    return new Cause(
        one.what,
        one.along,
        one.count + other.count,
        one.wholeBytes + other.wholeBytes,
        one.addedBytes + other.addedBytes);
  }

  /** Returns the bytes of all constants and states. */
  private static long bytes(Module module, Packing weights) {
    StoredConstants stored = StoredConstants.of(weights, module.graph());
    long bytes = 0;
    Set<String> states = states(module);
    for (Value input : module.graph().inputs()) {
      bytes += states.contains(input.name()) ? input.type().bytes() : 0;
    }
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Source.Constant) {
        bytes += stored.bytes(node.result(), node.result().type());
      }
    }
    return bytes;
  }

  private static Set<String> states(Module module) {
    Set<String> states = new HashSet<>();
    module.states().forEach(state -> states.add(state.input()));
    return states;
  }

  /** Returns the first user of a constant after syncs and movement. */
  private static String reader(Node constant, Map<Value, List<Node>> readers) {
    String found = "other constants";
    Node at = constant;
    while (true) {
      List<Node> next = readers.getOrDefault(at.results().getFirst(), List.of());
      if (next.isEmpty()) {
        return found;
      }
      at = next.getFirst();
      Op op = at.op();
      if (op instanceof Structured.Embedding) {
        // Tables of cosines and sines are looked up, too.
        found = op.mnemonic();
      } else if (op instanceof Structured) {
        return found.equals("other constants") || op instanceof Structured.RotaryEmbedding
            ? op.mnemonic()
            : found;
      } else if (!(op instanceof Communication || op instanceof Movement)) {
        return found;
      }
    }
  }
}
