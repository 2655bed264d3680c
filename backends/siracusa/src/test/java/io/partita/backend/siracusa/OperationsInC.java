package io.partita.backend.siracusa;

import static org.assertj.core.api.Assertions.assertThat;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SequencedMap;

/**
 * Compares many operations in one program with the reference: its evaluated schedule, and its C,
 * compiled and run on this host.
 */
final class OperationsInC {
  private static final TargetDescription TARGET = TargetLibrary.find("siracusa:chips=1");

  private final SchedulerOptions options;

  /**
   * @param l1 the bytes available to tiles
   */
  OperationsInC(long l1) {
    options = new SchedulerOptions(OptionalLong.of(l1), true, true);
  }

  /** Returns why an operation can't be scheduled; empty if it can. */
  String obstacle(OperationCase operation) {
    try {
      schedule(List.of(operation));
      return "";
    } catch (PartitaException e) {
      return e.diagnostics().getFirst().code().id();
    }
  }

  /** Runs all operations and compares every result. */
  void verify(List<OperationCase> operations, Path folder, String transfers) throws IOException {
    Map<String, Tensor> inputs = new HashMap<>();
    for (int i = 0; i < operations.size(); i++) {
      OperationCase operation = operations.get(i);
      for (int operand = 0; operand < operation.constants(); operand++) {
        inputs.put(operand(i, operand), operation.operands().get(operand));
      }
    }
    Schedule schedule = schedule(operations);
    assertThat(wrong(operations, new ScheduleEvaluator(schedule).run(inputs)))
        .as("evaluated schedule")
        .isEmpty();
    assertThat(wrong(operations, SanitisedBuild.run(schedule, inputs, folder, transfers)))
        .as("C")
        .isEmpty();
  }

  private static List<String> wrong(List<OperationCase> operations, Map<String, Tensor> outputs) {
    List<String> wrong = new ArrayList<>();
    for (int i = 0; i < operations.size(); i++) {
      List<Tensor> found = new ArrayList<>();
      for (int result = 0; outputs.containsKey(result(i, result)); result++) {
        found.add(outputs.get(result(i, result)));
      }
      operations.get(i).difference(found).ifPresent(wrong::add);
    }
    return wrong;
  }

  private static String operand(int operation, int index) {
    return "operation_" + operation + "_operand_" + index;
  }

  private static String result(int operation, int index) {
    return "operation_" + operation + "_result_" + index;
  }

  private Schedule schedule(List<OperationCase> operations) {
    GraphBuilder builder = new GraphBuilder("operations");
    SequencedMap<String, ShardedType> inputs = new LinkedHashMap<>();
    SequencedMap<String, ShardedType> outputs = new LinkedHashMap<>();
    for (int i = 0; i < operations.size(); i++) {
      OperationCase operation = operations.get(i);
      List<Value> operands = new ArrayList<>();
      for (Tensor operand : operation.operands()) {
        String name = operand(i, operands.size());
        if (operands.size() < operation.constants()) {
          operands.add(builder.input(name, operand.type()));
          inputs.put(name, whole(operand.type()));
        } else {
          operands.add(builder.constant(operand));
        }
      }
      Node node = builder.addNode(operation.op(), operands);
      for (int result = 0; result < node.results().size(); result++) {
        String name = result(i, result);
        builder.output(name, node.results().get(result));
        outputs.put(name, whole(node.results().get(result).type()));
      }
    }
    Graph graph = builder.finish();
    return Scheduler.schedule(
        new Program(Mesh.of(), List.of(new Module(graph)), inputs, outputs), TARGET, options);
  }

  private static ShardedType whole(TensorType type) {
    return new ShardedType(type, Layout.replicated(Mesh.of(), type.rank()));
  }
}
