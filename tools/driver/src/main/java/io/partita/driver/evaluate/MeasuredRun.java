package io.partita.driver.evaluate;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.driver.text.CompiledModel;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.mesh.sync.Statistics;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BinaryOperator;
import java.util.function.Function;

/**
 * A program that also returns statistics, seen without them. Accumulates what a reader finds in the
 * outputs of all its runs.
 */
final class MeasuredRun<R> implements CompiledModel {
  private final CompiledModel program;
  private final Function<Map<String, Tensor>, R> reader;
  private final BinaryOperator<R> join;
  private final int outputs;
  private Optional<R> measured = Optional.empty();

  /**
   * @param reader reads the outputs of one run by their names, the statistics among them
   * @param join joins the statistics of two runs
   */
  MeasuredRun(
      CompiledModel program,
      Statistics statistics,
      Function<Map<String, Tensor>, R> reader,
      BinaryOperator<R> join) {
    this.program = program;
    this.reader = reader;
    this.join = join;
    this.outputs = program.description().outputs().size() - statistics.outputs();
  }

  /** The statistics of all runs, of which there must be at least one. */
  R measured() {
    return measured.orElseThrow();
  }

  @Override
  public ProgramInterface description() {
    ProgramInterface all = program.description();
    return new ProgramInterface(
        all.model(),
        all.mesh(),
        all.inputs(),
        all.outputs().subList(0, outputs),
        all.states(),
        all.room(),
        Optional.empty());
  }

  @Override
  public List<Tensor> run(List<Tensor> inputs) {
    List<Tensor> results = program.run(inputs);
    Map<String, Tensor> named = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      named.put(program.description().outputs().get(i).name(), results.get(i));
    }
    R found = reader.apply(named);
    measured = Optional.of(measured.map(before -> join.apply(before, found)).orElse(found));
    return results.subList(0, outputs);
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
