package io.partita.driver.quantize;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.passes.ModulePass;
import io.partita.passes.PassCall;
import io.partita.passes.PassCode;
import io.partita.passes.Pipeline;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The pass that quantizes. Layers and their weights are chosen in the ONNX model, by the names that
 * it has for them, so the pass comes first and is taken from the pipeline when that model is read.
 */
public record QuantizePass(QuantizationStep step) implements ModulePass {
  public static final String NAME = "quantize";
  public static final String PURPOSE =
      "compute with integers, with ranges measured on data: the options of partita quantize;"
          + " comes first";

  /** Returns the pass with the options of a call. */
  public static QuantizePass of(PassCall call) {
    call.requireOptions(QuantizationOptions.names().toArray(String[]::new));
    Map<String, String> given = call.arguments();
    if (!given.containsKey(QuantizationOptions.CALIBRATION)) {
      throw call.wrong(
          QuantizationOptions.CALIBRATION, "the data (.npz) on which ranges are measured", "none");
    }
    String excluded = given.get(QuantizationOptions.FLOAT);
    return new QuantizePass(
        QuantizationOptions.step(
            given, excluded == null ? List.of() : List.of(excluded.split("\\+")), call::wrong));
  }

  /**
   * Returns the quantization with the options of the pass.
   *
   * @param text such as {@code calibration=eval.npz,weights=int4}
   */
  public static QuantizationStep parse(String text) {
    return of(PassCall.parse(NAME + "(" + text + ")")).step();
  }

  /** Returns the quantization with which a pipeline begins. */
  public static Optional<QuantizationStep> first(Pipeline pipeline) {
    return pipeline.passes().stream()
        .limit(1)
        .filter(QuantizePass.class::isInstance)
        .map(pass -> ((QuantizePass) pass).step())
        .findFirst();
  }

  /** Returns the passes after the quantization with which a pipeline begins. */
  public static Pipeline rest(Pipeline pipeline) {
    return first(pipeline).isEmpty()
        ? pipeline
        : new Pipeline(pipeline.passes().subList(1, pipeline.passes().size()));
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String purpose() {
    return PURPOSE;
  }

  /** Refuses a module, which has no names of ONNX nodes. */
  @Override
  public Module run(Module module) {
    throw misplaced("a module");
  }

  /** Returns the diagnostic for a quantization of something else than an ONNX model. */
  public static PartitaException misplaced(String found) {
    return new PartitaException(
        PassCode.PASS_ORDER,
        "pass " + NAME,
        "an ONNX model, which compile, evaluate, plan and opt give to the first pass",
        found,
        "put quantize first, or quantize the .onnx file with 'partita quantize'");
  }
}
