package io.partita.passes.mesh.sync;

import io.partita.ir.graph.GraphEditor;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication.Sync;
import io.partita.ir.propagate.LayoutInference;
import io.partita.ir.type.TensorType;
import io.partita.passes.ModulePass;
import java.util.HashMap;
import java.util.Map;

/** Chooses the algorithm of each sync that has none. Equal syncs get the same one. */
public final class ChooseAlgorithms implements ModulePass {
  /** The group size of the tree in the MCU paper. */
  private static final int GROUP = 4;

  private final Choice choice;
  private final Map<Change, Algorithm> chosen = new HashMap<>();

  /**
   * A sync without an algorithm.
   *
   * @param from the layout of the operand
   * @param type the type of the whole value
   */
  public record Change(Layout from, Sync sync, TensorType type) {}

  /** A choice of algorithms. */
  @FunctionalInterface
  public interface Choice {
    Algorithm of(Change change);
  }

  /**
   * Chooses by the number of devices alone: up to 4 devices send directly to each other, more form
   * a tree, which needs 126 messages instead of 8064 for an all-reduce on 64 devices. Messages that
   * differ for each receiver are always direct.
   */
  public static final Choice BY_DEVICE_COUNT =
      change -> {
        boolean isDirect =
            change.from().mesh().devices() <= GROUP
                || change.sync().kinds().containsValue(SyncKind.ALL_TO_ALL);
        return isDirect ? new Algorithm.Direct() : new Algorithm.Tree(GROUP);
      };

  public ChooseAlgorithms(Choice choice) {
    this.choice = choice;
  }

  /** Chooses {@link #BY_DEVICE_COUNT}. */
  public static ChooseAlgorithms byDeviceCount() {
    return new ChooseAlgorithms(BY_DEVICE_COUNT);
  }

  @Override
  public String name() {
    return "choose-algorithms";
  }

  @Override
  public String purpose() {
    return "choose the algorithm of each sync";
  }

  /**
   * @param module a module of the mesh dialect
   */
  @Override
  public Module run(Module module) {
    if (module.placement().isEmpty()) {
      return module;
    }
    LayoutInference layouts = LayoutInference.of(module);
    GraphEditor graph = new GraphEditor(module.graph());
    for (Node node : module.graph().nodes()) {
      if (node.op() instanceof Sync sync && sync.algorithm().isEmpty()) {
        Layout from = layouts.layout(node.operand(0));
        Algorithm algorithm =
            chosen.computeIfAbsent(new Change(from, sync, node.operand(0).type()), choice::of);
        graph.before(node);
        graph.replace(node.result(), graph.add(sync.with(algorithm), graph.operand(node, 0)));
      }
    }
    return module.with(graph.freeze());
  }
}
