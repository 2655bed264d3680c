package io.partita.benchmarks.device;

import io.partita.ir.schedule.ChipSchedule;
import io.partita.ir.schedule.Schedule;
import io.partita.ir.target.TargetDescription;
import io.partita.passes.schedule.Scheduler;
import io.partita.passes.schedule.SchedulerOptions;
import io.partita.passes.schedule.predict.SchedulePrediction;
import io.partita.passes.schedule.predict.SchedulePrediction.StepPrediction;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Kernels in several sizes on one chip.
 *
 * @param usual the steps of all cases with the L1 of the target
 * @param cut the steps of cases that aren't held out, with so little L1 that most have several
 *     tiles; empty if not requested
 * @param heldOut the names of held-out cases
 */
record KernelBenchmarks(List<MeasuredStep> usual, List<MeasuredStep> cut, Set<String> heldOut) {
  private static final OptionalLong LITTLE_L1 = OptionalLong.of(16 * 1024);

  /** Cases by program; each keeps all inputs and outputs of its cases in L2. */
  private static Map<String, List<KernelCase>> programs() {
    Map<String, List<KernelCase>> programs = new LinkedHashMap<>();
    programs.put("products", FloatCases.products());
    programs.put("elements", FloatCases.elements());
    programs.put("runs", FloatCases.runs());
    programs.put("rows", FloatCases.rows());
    programs.put("prompts", AttentionCases.prompts());
    programs.put("tokens", AttentionCases.tokens());
    programs.put("integer attention", AttentionCases.integers());
    programs.put("positions", AttentionCases.positions());
    programs.put("movement", MovementCases.all());
    programs.put("convolutions", ConvolutionCases.floats());
    programs.put("integer-products", IntegerCases.products());
    programs.put("integer-vectors", IntegerCases.vectors());
    programs.put("integer-few-rows", IntegerCases.fewRows());
    programs.put("integer-odd", IntegerCases.odd());
    programs.put("integer-runs", IntegerCases.runs());
    programs.put("integer-elements", IntegerCases.elements());
    programs.put("integer-rows", IntegerCases.rows());
    programs.put("integer-convolutions", ConvolutionCases.integers());
    return programs;
  }

  static KernelBenchmarks run(Simulation simulation, TargetDescription target, boolean isCut)
      throws IOException {
    List<MeasuredStep> usual = new ArrayList<>();
    List<MeasuredStep> cut = new ArrayList<>();
    Map<String, List<KernelCase>> programs = programs();
    for (Map.Entry<String, List<KernelCase>> program : programs.entrySet()) {
      List<KernelCase> cases = program.getValue();
      String name = "kernels/" + program.getKey();
      usual.addAll(steps(simulation, target, name, cases, SchedulerOptions.STANDARD));
      if (isCut) {
        List<KernelCase> fitted = cases.stream().filter(each -> !each.isHeldOut()).toList();
        SchedulerOptions little = new SchedulerOptions(LITTLE_L1, true, true);
        cut.addAll(steps(simulation, target, name + "-cut", fitted, little));
      }
    }
    Set<String> heldOut =
        programs.values().stream()
            .flatMap(List::stream)
            .filter(KernelCase::isHeldOut)
            .map(KernelCase::name)
            .collect(Collectors.toSet());
    return new KernelBenchmarks(usual, cut, heldOut);
  }

  private static List<MeasuredStep> steps(
      Simulation simulation,
      TargetDescription target,
      String name,
      List<KernelCase> cases,
      SchedulerOptions options)
      throws IOException {
    KernelProgram program = new KernelProgram(cases);
    Schedule schedule = Scheduler.schedule(program.program(), target, options);
    Simulation.MeasuredSteps measured = simulation.steps(name, schedule, program.inputs());
    List<StepPrediction> predicted =
        SchedulePrediction.of(schedule, target).devices().getFirst().steps();
    ChipSchedule role = schedule.roles().getFirst();
    List<MeasuredStep> steps = new ArrayList<>();
    for (int i = 0; i < role.steps().size(); i++) {
      steps.add(MeasuredStep.of(role, i, measured.chips().getFirst().get(i), predicted.get(i)));
    }
    return steps;
  }

  boolean isHeldOut(MeasuredStep step) {
    return heldOut.contains(step.name());
  }

  /** Returns the steps to which figures are fitted. */
  List<MeasuredStep> fitted() {
    List<MeasuredStep> steps = new ArrayList<>(cut);
    usual.stream().filter(step -> !isHeldOut(step)).forEach(steps::add);
    return steps;
  }
}
