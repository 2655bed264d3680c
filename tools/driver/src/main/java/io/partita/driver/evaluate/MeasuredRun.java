package io.partita.driver.evaluate;

import io.partita.driver.text.CompiledModel;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.sync.FeatureRanges;
import io.partita.passes.mesh.sync.RangeStatistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A program that also gives what is measured, seen as the program alone. Keeps the ranges of all
 * runs since it was made.
 */
final class MeasuredRun implements CompiledModel {
  private final CompiledModel program;
  private final RangeStatistics.Measuring measuring;
  private final int outputs;
  private List<FeatureRanges> ranges = List.of();

  MeasuredRun(CompiledModel program, RangeStatistics.Measuring measuring) {
    this.program = program;
    this.measuring = measuring;
    this.outputs = program.outputs().size() - measuring.outputs();
  }

  List<FeatureRanges> ranges() {
    return ranges;
  }

  @Override
  public List<Port> inputs() {
    return program.inputs();
  }

  @Override
  public List<Port> outputs() {
    return program.outputs().subList(0, outputs);
  }

  @Override
  public List<Port> states() {
    return program.states();
  }

  @Override
  public Optional<Module.Room> room() {
    return program.room();
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    List<Tensor> results = program.run(inputs);
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = outputs; i < results.size(); i++) {
      named.put(program.outputs().get(i).name(), results.get(i));
    }
    List<FeatureRanges> found = measuring.ranges(named);
    List<FeatureRanges> before = ranges;
    ranges =
        before.isEmpty()
            ? found
            : IntStream.range(0, found.size())
                .mapToObj(i -> before.get(i).joined(found.get(i)))
                .toList();
    return results.subList(0, outputs);
  }

  @Override
  public Optional<Chunk> chunk() {
    return Optional.empty();
  }

  @Override
  public List<Tensor> runChunk(List<Tensor> inputs) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void reset() {
    program.reset();
  }

  @Override
  public void close() {}
}
