package io.partita.backend.java.code;

import io.partita.backend.java.plan.ModulePlan;
import io.partita.backend.java.plan.Step;
import io.partita.backend.java.plan.Storage;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication;
import io.partita.ir.op.Contraction;
import io.partita.ir.op.Elementwise;
import io.partita.ir.op.IntegerNetwork;
import io.partita.ir.op.Movement;
import io.partita.ir.op.Quantized;
import io.partita.ir.op.Reduction;
import io.partita.ir.op.Source;
import io.partita.ir.op.Structured;
import java.util.List;
import java.util.stream.Collectors;

/** Prints one step: a comment with names and shapes, then its loops or its kernel's call. */
final class StepPrinter {
  private final ModulePlan plan;
  private final Kernels kernels;
  private final Scratch scratch;

  StepPrinter(ModulePlan plan, Kernels kernels, Scratch scratch) {
    this.plan = plan;
    this.kernels = kernels;
    this.scratch = scratch;
  }

  List<Body> print(Step step) {
    StepCode code = new StepCode(plan, kernels, scratch, step);
    step.fused().forEach(node -> code.body.comment(describe(node)));
    code.body.comment(describe(step.node()));
    step.loads().forEach(constant -> load(code, constant));
    switch (step.node().op()) {
      case Elementwise elementwise -> ElementwiseCode.emit(code, step);
      case Movement movement -> MovementCode.emit(code, movement);
      case Reduction reduction -> ReductionCode.emit(code, reduction);
      case Contraction contraction -> ContractionCode.emit(code, contraction);
      case Structured structured -> StructuredCode.emit(code, structured);
      case Quantized quantized -> QuantizedCode.emit(code, quantized);
      case IntegerNetwork integers -> IntegerNetworkCode.emit(code, integers);
      case Communication.Exchange exchange -> ExchangeCode.emit(code);
      case Communication.Gate gate -> throw new IllegalArgumentException(gate.mnemonic());
      case Communication.Relayout change -> throw new IllegalArgumentException(change.mnemonic());
      case Communication.Variation change -> throw new IllegalArgumentException(change.mnemonic());
      case Source source -> source(code, source);
    }
    List<Value> conditions = plan.regions().conditions(step.node());
    return conditions.isEmpty() ? code.parts() : guarded(code, conditions);
  }

  /** The parts of a step that a device only takes if all conditions are true. */
  private static List<Body> guarded(StepCode code, List<Value> conditions) {
    List<Body> parts = List.copyOf(code.parts());
    return parts.stream()
        .map(
            part -> {
              code.nextPart();
              String condition =
                  conditions.stream()
                      .map(value -> code.load(value, "0").text())
                      .collect(Collectors.joining(" && "));
              Body guarded = code.body;
              part.needed().forEach(guarded::needs);
              return guarded.open("if (" + condition + ")").append(part).close();
            })
        .toList();
  }

  /** {@code /model/layers.0/q_proj/MatMul: linear f32[1,16,512], f32[512,512] -> f32[1,16,512]}. */
  private static String describe(Node node) {
    String operands =
        node.operands().stream()
            .map(value -> value.type().toString())
            .collect(Collectors.joining(", "));
    String results =
        node.results().stream()
            .map(value -> value.type().toString())
            .collect(Collectors.joining(", "));
    String name = node.name().isEmpty() ? "" : node.name() + ": ";
    String mnemonic = node.op().mnemonic();
    return name + mnemonic + (operands.isEmpty() ? "" : " " + operands) + " -> " + results;
  }

  private void load(StepCode code, Value constant) {
    Storage storage = Storage.of(constant.type().element());
    code.body.line(
        code.call(
            WeightKernels.reader(storage),
            code.rows(constant) + "L",
            code.array(constant),
            0,
            constant.type().shape().elements()),
        plan.constantName(constant));
  }

  private static void source(StepCode code, Source source) {
    switch (source) {
      case Source.Constant constant -> {}
      case Source.Extent extent -> code.store("0", extent.size().value() + "L");
      case Source.Iota iota -> {
        code.body.open(LoopNest.loop("i", iota.size().value()));
        if (Storage.of(iota.element()) == Storage.INTS) {
          code.body.line(code.result() + "[i] = i");
        } else {
          code.store("i", "i");
        }
        code.body.close();
      }
    }
  }
}
