package io.partita.ir.stage;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;

/**
 * A model at a stage of compilation.
 *
 * @param <T> the form of the model
 */
public record Staged<T>(Stage<T> stage, T model) {
  public static Staged<Module> of(Module module) {
    return new Staged<>(Stage.MODULE, module);
  }

  public static Staged<Program> of(Program program) {
    return new Staged<>(Stage.PROGRAM, program);
  }

  public static Staged<Schedule> of(Schedule schedule) {
    return new Staged<>(Stage.SCHEDULE, schedule);
  }

  /** Returns the model, if it is at stage {@code wanted}. */
  public <O> Optional<O> at(Stage<O> wanted) {
    return stage.equals(wanted) ? Optional.of(wanted.form().cast(model)) : Optional.empty();
  }

  public String print() {
    return stage.print(model);
  }

  /** Like {@link Stage#write}. */
  public void write(Path file) {
    stage.write(model, file);
  }

  public List<Diagnostic> violations() {
    return stage.violations(model);
  }

  /** Like {@link Stage#inputs}. */
  public SequencedMap<String, TensorType> inputs() {
    return stage.inputs(model);
  }

  /** Like {@link Stage#states}. */
  public List<String> states() {
    return stage.states(model);
  }

  /** Like {@link Stage#evaluate}. */
  public Map<String, Tensor> evaluate(Map<String, Tensor> inputs) {
    return stage.evaluate(model, inputs);
  }
}
