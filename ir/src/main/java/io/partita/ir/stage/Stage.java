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
 * A stage of compilation: the form of a model between two passes. At each stage a model can be
 * printed, written, verified and evaluated.
 *
 * @param <T> the form of models
 */
public sealed interface Stage<T> permits ModuleStage, ProgramStage, ScheduleStage {
  /** The graph dialect or, with a placement, the mesh dialect. */
  Stage<Module> MODULE = ModuleStage.INSTANCE;

  /** A graph for each device, with the messages that it sends and receives. */
  Stage<Program> PROGRAM = ProgramStage.INSTANCE;

  /** Tiles, memories, transfers and kernel calls for each role. */
  Stage<Schedule> SCHEDULE = ScheduleStage.INSTANCE;

  /** The name of a model at this stage, such as {@code program}. */
  String label();

  Class<T> form();

  /** Returns the parseable text, with a hash of every weight. */
  String print(T model);

  /**
   * Writes the text, and the weights beside it.
   *
   * @throws PartitaException {@link io.partita.ir.text.TextCode#FILE}
   */
  void write(T model, Path file);

  /** Returns violations; none for a valid model. */
  List<Diagnostic> violations(T model);

  /** Returns the types of the whole inputs of a run by name, including states. */
  SequencedMap<String, TensorType> inputs(T model);

  /** Returns the names of the inputs that are state. */
  List<String> states(T model);

  /**
   * Runs the model once, by the reference meaning of the stage.
   *
   * @param inputs the whole inputs by name; at the schedule stage, states begin as zeros
   * @return the whole outputs by name; a schedule returns no states
   * @throws PartitaException if it can't be evaluated for these inputs
   */
  Map<String, Tensor> evaluate(T model, Map<String, Tensor> inputs);
}
