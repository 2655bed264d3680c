package io.partita.ir.stage;

import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.schedule.ScheduleVerifier;
import io.partita.ir.schedule.eval.ScheduleEvaluator;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.text.ScheduleFile;
import io.partita.ir.text.SchedulePrinter;
import io.partita.ir.type.TensorType;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;

/** Schedules of chips. */
enum ScheduleStage implements Stage<Schedule> {
  INSTANCE;

  @Override
  public String label() {
    return "schedule";
  }

  @Override
  public Class<Schedule> form() {
    return Schedule.class;
  }

  @Override
  public String print(Schedule model) {
    return SchedulePrinter.print(model);
  }

  @Override
  public void write(Schedule model, Path file) {
    ScheduleFile.write(model, file);
  }

  @Override
  public List<Diagnostic> violations(Schedule model) {
    try {
      ScheduleVerifier.verify(model);
    } catch (PartitaException fault) {
      return fault.diagnostics();
    }
    return List.of();
  }

  @Override
  public SequencedMap<String, TensorType> inputs(Schedule model) {
    SequencedMap<String, TensorType> inputs = new LinkedHashMap<>();
    model.inputs().forEach((name, sharded) -> inputs.put(name, sharded.type()));
    return inputs;
  }

  @Override
  public List<String> states(Schedule model) {
    return List.of();
  }

  @Override
  public Map<String, Tensor> evaluate(Schedule model, Map<String, Tensor> inputs) {
    return new ScheduleEvaluator(model).run(inputs);
  }
}
