package io.partita.driver.evaluate;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.LanguageModel;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;
import java.util.Optional;

/**
 * Runs of a model of features on the samples of an array. A decoder takes the tokens of a sample
 * one run after the other.
 */
final class FeatureRuns implements SampleRuns {
  private final EvaluationData data;
  private final Scaling scaling;
  private final List<ProgramInterface.Port> inputs;
  private final int elements;
  private final int runs;

  /**
   * @param program a program with one input of floats; a decoder may also have one of positions
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetricCode#DATA} if the data
   *     doesn't fit the program
   */
  FeatureRuns(EvaluationData data, Scaling scaling, CompiledModel program) {
    this.data = data;
    this.scaling = scaling;
    this.inputs = program.description().inputs();
    TensorType input = features(program).orElseThrow();
    elements = Math.toIntExact(input.shape().elements());
    boolean isDecoder = !program.description().states().isEmpty();
    if (isDecoder ? !data.isSeries(input) : !data.fits(input)) {
      throw data.misfit(
          (isDecoder ? "samples of several tokens of " : "samples of ")
              + input.shape()
              + ", as the model takes "
              + input);
    }
    this.runs = data.length() / elements;
    long capacity = program.description().room().map(Module.Room::capacity).orElse((long) runs);
    if (isDecoder && capacity < runs) {
      throw MetricCode.DATA.at(
          data.where(),
          "samples of at most " + capacity + " tokens, which the cache holds",
          runs + " tokens",
          "give shorter samples, or bind a longer cache");
    }
  }

  /** Returns the type of the only input that isn't of positions, if it is of floats. */
  static Optional<TensorType> features(CompiledModel program) {
    boolean isDecoder = !program.description().states().isEmpty();
    List<TensorType> types =
        program.description().inputs().stream()
            .filter(port -> !(isDecoder && LanguageModel.isPosition(port)))
            .map(ProgramInterface.Port::type)
            .toList();
    return types.size() == 1 && types.getFirst().element().isFloat()
        ? Optional.of(types.getFirst())
        : Optional.empty();
  }

  @Override
  public int samples() {
    return data.count();
  }

  @Override
  public int runs() {
    return runs;
  }

  @Override
  public List<Tensor> inputs(int sample, int run) {
    double[] values = new double[elements];
    for (int i = 0; i < elements; i++) {
      values[i] = scaling.apply(data.samples(), (sample * runs + run) * elements + i);
    }
    return inputs.stream()
        .map(ProgramInterface.Port::type)
        .map(
            type ->
                type.element().isFloat()
                    ? Tensor.ofDoubles(type, values)
                    : Tensor.filled(type, run))
        .toList();
  }
}
