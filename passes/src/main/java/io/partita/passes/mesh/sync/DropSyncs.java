package io.partita.passes.mesh.sync;

import io.partita.ir.function.ReductionKind;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.SyncKind;
import io.partita.ir.op.Communication;
import io.partita.ir.propagate.LayoutInference;
import io.partita.passes.ModulePass;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;

/**
 * Drops the sync after attention in some blocks, as in "SPD: Sync-Point Drop for Efficient Tensor
 * Parallelism of Large Language Models", section 4.1. Let X be the input of a block, P a device's
 * term of attention, and b the bias of the output projection. The device's part of the network has
 * the input X + P + b. The remaining sync joins the terms of attention and network: the output of
 * the block is X + b + sum P + sum Z.
 *
 * <p>Blocks are counted from 0, by their attentions.
 */
public final class DropSyncs implements ModulePass {
  private final BlockSelection blocks;

  public DropSyncs(BlockSelection blocks) {
    this.blocks = blocks;
  }

  @Override
  public String name() {
    return "drop-syncs";
  }

  @Override
  public String purpose() {
    return "drop the sync after attention in some blocks: all, or a list such as 0-3+5";
  }

  /**
   * @param module a module of the mesh dialect with raised attention
   * @throws io.partita.ir.diagnostic.PartitaException with {@link SyncCode#DROP} if a block has no
   *     sync of its attention alone, or {@link SyncCode#BLOCKS}
   */
  @Override
  public Module run(Module module) {
    if (module.placement().isEmpty()) {
      throw SyncCode.DROP.at(
          "pass drop-syncs",
          "a distributed module",
          "one without",
          "add shard(tensor=N) before it");
    }
    LayoutInference layouts = LayoutInference.of(module);
    Map<Value, List<Node>> readers = module.graph().readers();
    Map<Node, DroppedSync> dropped = new IdentityHashMap<>();
    BlockNumbers numbers = BlockNumbers.of(module.graph());
    for (Node node : module.graph().nodes()) {
      int block = numbers.of(node);
      if (numbers.begins(node) && blocks.contains(block)) {
        requireRaised(node, block);
        Node sync = sync(node, block, readers, layouts);
        dropped.put(sync, DroppedSync.of(sync, block, layouts));
      }
    }
    blocks.require("pass drop-syncs, option blocks", numbers.count());
    Graph graph = new SyncDropper(module, dropped).run();
    return module.with(graph);
  }

  private static void requireRaised(Node node, int block) {
    if (!BlockNumbers.isAttention(node)) {
      throw SyncCode.DROP.at(
          "block " + block + ", " + node,
          "an attention of floats",
          "an attention of a quantised or integer network",
          "exclude the block");
    }
  }

  /** Finds the sync that joins the result of an attention. */
  private static Node sync(
      Node attention, int block, Map<Value, List<Node>> readers, LayoutInference layouts) {
    SequencedSet<Node> syncs = new LinkedHashSet<>();
    Set<Node> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    ArrayDeque<Node> open = new ArrayDeque<>(List.of(attention));
    while (!open.isEmpty()) {
      for (Value result : open.removeFirst().results()) {
        for (Node reader : readers.getOrDefault(result, List.of())) {
          if (seen.add(reader)) {
            if (reader.op() instanceof Communication.Sync) {
              syncs.add(reader);
            } else {
              open.add(reader);
            }
          }
        }
      }
    }
    List<String> found = new ArrayList<>();
    for (Node node : syncs) {
      Communication.Sync sync = (Communication.Sync) node.op();
      Layout from = layouts.layout(node.operand(0));
      boolean joins =
          sync.kinds().values().stream().allMatch(kind -> kind == SyncKind.ALL_REDUCE)
              && sync.to().partial().isEmpty()
              && from.reduction() == ReductionKind.SUM
              && from.varying().isEmpty();
      if (joins && syncs.size() == 1) {
        return node;
      }
      found.add(SyncKind.text(sync.kinds()));
    }
    throw SyncCode.DROP.at(
        "block " + block + ", " + attention,
        "an all-reduce after attention",
        found.isEmpty() ? "no sync" : String.join(", ", found),
        "shard only by tensor=N, before drop-syncs");
  }
}
