package io.partita.ir.stage;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.program.Program;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/**
 * A stage of compilation: the form that a model has between two passes, and what can be done with
 * it there. At each stage a model can be printed, written, verified and evaluated.
 *
 * @param <T> the form
 */
public sealed interface Stage<T> permits ModuleStage, ProgramStage, ScheduleStage {
  /** The graph dialect, or with a placement the mesh dialect. */
  Stage<Module> MODULE = ModuleStage.INSTANCE;

  /** A graph for each device, with the messages that it sends and receives. */
  Stage<Program> PROGRAM = ProgramStage.INSTANCE;

  /** Tiles, memories, transfers and kernel calls for each role. */
  Stage<Schedule> SCHEDULE = ScheduleStage.INSTANCE;

  /** What a model is called there, such as {@code program}. */
  String label();

  Class<T> form();

  /** The text that can be parsed again, with a hash for every weight. */
  String print(T model);

  /**
   * Writes the text, and the weights beside it.
   *
   * @throws PartitaException {@link io.partita.ir.text.TextCode#FILE}
   */
  void write(T model, Path file);

  /** What doesn't hold together; none in a valid model. */
  List<Diagnostic> violations(T model);

  /** The inputs of a run, whole, by name. Those that are states are among them. */
  SequencedMap<String, TensorType> inputs(T model);

  /** The names of the inputs that are kept from run to run. */
  List<String> states(T model);

  /**
   * Runs the model once by the stage's reference semantics.
   *
   * @param inputs whole, by name; states start as zeros at the schedule stage
   * @return the outputs, whole, by name; a schedule gives no states
   * @throws PartitaException when it can't be evaluated on these inputs
   */
  Map<String, Tensor> evaluate(T model, Map<String, Tensor> inputs);
}
