package io.partita.backend.java;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.mesh.Split;
import io.partita.ir.message.Slice;
import io.partita.ir.message.Step;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.program.Program;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.TensorType;
import io.partita.passes.program.collective.Collective;
import io.partita.passes.program.collective.Schedule;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * Programs of only exchanges: exchange {@code i} takes the concatenated values of all devices in
 * input {@code xi}, and gives their values after the exchange in output {@code yi}.
 */
final class HandMadePrograms {
  static final String AXIS = "chips";

  private HandMadePrograms() {}

  static Program of(List<Schedule> schedules) {
    int devices = schedules.getFirst().collective().devices();
    List<Module> modules = new ArrayList<>();
    for (int device = 0; device < devices; device++) {
      GraphBuilder builder = new GraphBuilder("exchanges");
      for (int i = 0; i < schedules.size(); i++) {
        add(builder, schedules.get(i), i, device);
      }
      modules.add(new Module(builder.finish()));
    }
    Mesh mesh = Mesh.line(AXIS, devices);
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    for (int i = 0; i < schedules.size(); i++) {
      Collective collective = schedules.get(i).collective();
      List<Long> before = new ArrayList<>();
      List<Long> after = new ArrayList<>();
      for (int device = 0; device < devices; device++) {
        before.add(size(collective.before(device)));
        after.add(size(collective.after(device)));
      }
      inputs.put("x" + i, sharded(mesh, collective.element(), before));
      outputs.put("y" + i, sharded(mesh, collective.element(), after));
    }
    return new Program(mesh, modules, inputs, outputs);
  }

  private static ShardedType sharded(Mesh mesh, ElementType element, List<Long> sizes) {
    Split split = Split.sizes(List.of(AXIS), sizes);
    long whole = sizes.stream().mapToLong(Long::longValue).sum();
    return new ShardedType(TensorType.of(element, whole), Layout.of(mesh, split));
  }

  static long size(List<Slice> slices) {
    return Slice.elements(slices);
  }

  /** Omits empty values. */
  private static void add(GraphBuilder builder, Schedule schedule, int sync, int device) {
    Collective collective = schedule.collective();
    List<Slice> before = filled(collective.before(device));
    List<Slice> after = filled(collective.after(device));
    List<Value> operands =
        before.isEmpty()
            ? List.of()
            : List.of(builder.input("x" + sync, TensorType.of(collective.element(), size(before))));
    List<Step> steps = schedule.steps().get(device);
    Value result =
        builder
            .at("exchange" + sync)
            .add(
                new Exchange(
                    sync, collective.elements(), collective.element(), before, after, steps),
                operands);
    if (!after.isEmpty()) {
      builder.output("y" + sync, result);
    }
  }

  private static List<Slice> filled(List<Slice> slices) {
    return slices.stream().filter(slice -> slice.size() > 0).toList();
  }

  /** Returns a program of two devices that first wait for each other's message. */
  static Program deadlock() {
    List<Module> modules = new ArrayList<>();
    for (int device = 0; device < 2; device++) {
      GraphBuilder builder = new GraphBuilder("deadlock");
      Value x = builder.input("x", TensorType.of(ElementType.F32, 4));
      List<Slice> all = List.of(new Slice(0, 4));
      List<Step> steps =
          List.of(
              new Step.Receive(1 - device, all, 16, io.partita.ir.function.Combine.ADD),
              new Step.Send(1 - device, all, 16));
      Exchange exchange = new Exchange(7, 4, ElementType.F32, all, all, steps);
      builder.output("y", builder.at("sum").add(exchange, x));
      modules.add(new Module(builder.finish()));
    }
    Mesh mesh = Mesh.line(AXIS, 2);
    ShardedType type =
        new ShardedType(TensorType.of(ElementType.F32, 4), Layout.replicated(mesh, 1));
    return new Program(
        mesh,
        modules,
        new TreeMap<>(java.util.Map.of("x", type)),
        new TreeMap<>(java.util.Map.of("y", type)));
  }
}
