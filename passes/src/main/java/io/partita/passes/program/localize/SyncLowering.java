package io.partita.passes.program.localize;

import io.partita.ir.eval.OpEvaluator;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Algorithm;
import io.partita.ir.mesh.Layout;
import io.partita.ir.op.Codec;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Movement;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.localize.SyncPlan.End;
import io.partita.passes.program.localize.SyncPlan.Messages;
import io.partita.passes.program.localize.SyncPlan.Part;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Lowers changes of layout to exchanges, with packing and unpacking around them. */
final class SyncLowering {
  private final ProvedSchedules schedules;
  private final Map<Key, SyncPlan> plans = new HashMap<>();
  private int numbers;

  private record Key(Layout from, Layout to, TensorType type, Algorithm algorithm) {}

  SyncLowering(int capacity) {
    this.schedules = new ProvedSchedules(capacity);
  }

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link
   *     io.partita.ir.mesh.MeshCode#RESHARD} if a change has no lowering
   */
  void lower(Node node, Communication.Relayout change, Layout from, List<DeviceGraph> devices) {
    Value operand = node.operand(0);
    Codec codec = change instanceof Communication.Sync sync ? sync.codec() : Codec.EXACT;
    TensorType encoded =
        new TensorType(codec.wire(operand.type().element()), operand.type().shape());
    SyncPlan plan = plan(change, from, encoded);
    for (DeviceGraph device : devices) {
      device.builder().at(node);
      Local given = encode(device.local(operand), codec, device);
      Local got = lower(given, encoded, plan, device);
      device.set(node.result(), decode(got, operand.type().element(), codec, device));
    }
    numbers += plan.stages().size();
  }

  private SyncPlan plan(Communication.Relayout change, Layout from, TensorType type) {
    Algorithm algorithm =
        change instanceof Communication.Sync sync
            ? sync.algorithm().orElseThrow()
            : new Algorithm.Direct();
    return plans.computeIfAbsent(
        new Key(from, change.to(), type, algorithm),
        key ->
            SyncPlanner.plan(
                from, change.to(), type, new GroupExchanges(algorithm, type.element(), schedules)));
  }

  private static Local encode(Local local, Codec codec, DeviceGraph device) {
    return switch (local) {
      case Local.Held(Value value) -> new Local.Held(codec.encode(value, device.builder()::add));
      case Local.Data(Tensor whole, Box box) ->
          new Local.Data(codec.encode(whole, OpEvaluator.AT_ONCE), box);
      case Local.Zeros zeros -> zeros;
      case Local.Nothing nothing -> nothing;
    };
  }

  private static Local decode(Local local, ElementType element, Codec codec, DeviceGraph device) {
    return switch (local) {
      case Local.Held(Value value) ->
          new Local.Held(codec.decode(value, element, device.builder()::add));
      case Local.Data(Tensor whole, Box box) ->
          new Local.Data(codec.decode(whole, element, OpEvaluator.AT_ONCE), box);
      case Local.Zeros zeros -> zeros;
      case Local.Nothing nothing -> nothing;
    };
  }

  private Local lower(Local local, TensorType type, SyncPlan plan, DeviceGraph device) {
    Box held = plan.starts().get(device.device());
    int number = numbers;
    for (List<Part> stage : plan.stages()) {
      Part part = stage.get(device.device());
      local = lower(local, part, number++, type, device);
      held = part.after();
    }
    return end(local, held, plan.ends().get(device.device()), type, device);
  }

  private Local lower(Local local, Part part, int number, TensorType type, DeviceGraph device) {
    if (part.messages().isEmpty()) {
      return cut(local, part.before(), part.after(), device);
    }
    Messages messages = part.messages().get();
    Packing packing = device.packing();
    List<Value> operands = new ArrayList<>();
    if (!messages.before().isEmpty()) {
      Value value = device.materialise(local, type.with(part.before().shape()));
      operands.add(packing.pack(value, part.before(), messages.given()));
    }
    Value vector =
        device
            .builder()
            .add(
                new Communication.Exchange(
                    number,
                    messages.elements(),
                    type.element(),
                    messages.before(),
                    messages.after(),
                    messages.steps()),
                operands);
    return part.after() == null
        ? new Local.Nothing()
        : new Local.Held(packing.unpack(vector, messages.taken(), part.after()));
  }

  private static Local cut(Local local, Box held, Box box, DeviceGraph device) {
    if (box == null) {
      return new Local.Nothing();
    }
    return switch (local) {
      case Local.Held(Value value) -> new Local.Held(device.packing().cut(value, held, box));
      case Local.Data(Tensor whole, Box before) -> new Local.Data(whole, box);
      case Local.Zeros zeros -> zeros;
      case Local.Nothing nothing -> throw new AssertionError(box + " of nothing");
    };
  }

  private static Local end(Local local, Box held, End end, TensorType type, DeviceGraph device) {
    return switch (end) {
      case End.Keep(Box box) -> cut(local, held, box, device);
      case End.Surround(Box box, Box whole) -> {
        Local kept = cut(local, held, box, device);
        Value value = device.materialise(kept, type.with(box.shape()));
        yield kept instanceof Local.Zeros
            ? kept
            : new Local.Held(surround(value, box, whole, device));
      }
      case End.Zeros() -> new Local.Zeros();
      case End.Nothing() -> new Local.Nothing();
    };
  }

  private static Value surround(Value value, Box box, Box whole, DeviceGraph device) {
    List<Long> low = new ArrayList<>();
    List<Long> high = new ArrayList<>();
    for (int dim = 0; dim < box.rank(); dim++) {
      low.add(box.from(dim) - whole.from(dim));
      high.add(whole.to(dim) - box.to(dim));
    }
    Movement.Pad pad = new Movement.Pad(Movement.PadMode.CONSTANT, low, high);
    return device.builder().add(pad, value, device.zero(value.type()));
  }
}
