package io.partita.driver.evaluate;

import io.partita.driver.text.CompiledModel;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Set;

/**
 * The root mean square of the float outputs of a model whose quality needs a task to be measured.
 * It shows whether a changed model has outputs of the same size, and no more.
 */
final class OutputMagnitude implements Metric {
  private final SampleRuns data;
  private final Set<String> unmeasured;

  /**
   * @param unmeasured the names of outputs that don't count
   */
  OutputMagnitude(SampleRuns data, Set<String> unmeasured) {
    this.data = data;
    this.unmeasured = unmeasured;
  }

  @Override
  public String name() {
    return "output RMS";
  }

  @Override
  public String unit() {
    return "outputs";
  }

  @Override
  public int samples() {
    return data.samples();
  }

  @Override
  public boolean isQuality() {
    return false;
  }

  @Override
  public Score score(CompiledModel program, int sample) {
    program.reset();
    Score score = Score.NONE;
    for (int run = 0; run < data.runs(); run++) {
      List<Tensor> outputs = program.run(data.inputs(sample, run));
      for (int port = 0; port < outputs.size(); port++) {
        Tensor output = outputs.get(port);
        String name = program.description().outputs().get(port).name();
        boolean isMeasured = output.element().isFloat() && !unmeasured.contains(name);
        for (int i = 0; isMeasured && i < output.size(); i++) {
          double value = output.getDouble(i);
          score = score.plus(new Score(value * value, 1));
        }
      }
    }
    return score;
  }

  @Override
  public boolean isLargerBetter() {
    return true;
  }

  @Override
  public double value(double mean) {
    return Math.sqrt(mean);
  }
}
