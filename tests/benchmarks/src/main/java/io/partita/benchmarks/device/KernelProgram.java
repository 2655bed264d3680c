package io.partita.benchmarks.device;

import io.partita.ir.graph.GraphBuilder;
import io.partita.ir.graph.Module;
import io.partita.ir.graph.Value;
import io.partita.ir.mesh.Layout;
import io.partita.ir.mesh.Mesh;
import io.partita.ir.mesh.ShardedType;
import io.partita.ir.program.Program;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;

/** A program of cases in sequence for one chip. */
final class KernelProgram {
  private final GraphBuilder graph = new GraphBuilder("kernels");
  private final SequencedMap<String, ShardedType> inputTypes = new LinkedHashMap<>();
  private final SequencedMap<String, ShardedType> outputTypes = new LinkedHashMap<>();
  private final List<Tensor> inputs = new ArrayList<>();
  private final Program program;

  KernelProgram(List<KernelCase> cases) {
    cases.forEach(this::add);
    program = new Program(Mesh.of(), List.of(new Module(graph.finish())), inputTypes, outputTypes);
  }

  Program program() {
    return program;
  }

  List<Tensor> inputs() {
    return inputs;
  }

  private void add(KernelCase each) {
    List<Value> values = new ArrayList<>();
    for (int i = 0; i < each.operands().size(); i++) {
      Tensor tensor = each.operands().get(i);
      if (i < each.inputs()) {
        String name = "x%04d".formatted(inputs.size());
        values.add(graph.input(name, tensor.type()));
        inputTypes.put(name, whole(tensor.type()));
        inputs.add(tensor);
      } else {
        values.add(graph.constant(tensor));
      }
    }
    Value result = each.body().add(graph.at(each.name()), values);
    String name = "y%04d".formatted(outputTypes.size());
    graph.output(name, result);
    outputTypes.put(name, whole(result.type()));
  }

  private static ShardedType whole(TensorType type) {
    return new ShardedType(type, Layout.replicated(Mesh.of(), type.rank()));
  }
}
