package io.partita.driver.evaluate;

import io.partita.driver.text.CompiledModel;
import io.partita.ir.tensor.Tensor;
import io.partita.ir.type.TensorType;
import java.util.List;

/** The fraction of samples whose likeliest class is the label. */
final class TopOne implements Metric {
  private final EvaluationData data;
  private final Scaling scaling;
  private final long[] labels;

  /**
   * @throws io.partita.ir.diagnostic.PartitaException with {@link MetricCode#DATA} if the data
   *     doesn't fit the program, with {@link MetricCode#ARRAY} if there are no labels
   */
  TopOne(EvaluationData data, Scaling scaling, CompiledModel program) {
    this.data = data;
    this.scaling = scaling;
    TensorType input = program.description().inputs().getFirst().type();
    long classes = program.description().outputs().getFirst().type().shape().elements();
    if (!data.fits(input)) {
      throw data.misfit("samples of " + input.shape() + ", as the model takes " + input);
    }
    Tensor given =
        data.labels()
            .orElseThrow(
                () ->
                    MetricCode.ARRAY.at(
                        data.where(),
                        "labels of the samples in an array named '" + data.labelsName() + "'",
                        "no such array",
                        "add it to the archive"));
    if (!given.element().isInteger() || given.size() != data.count()) {
      throw MetricCode.DATA.at(
          data.where() + ", array '" + data.labelsName() + "'",
          "an integer for each of " + data.count() + " samples",
          given.type(),
          "give the class of each sample");
    }
    labels = given.longs();
    for (int i = 0; i < labels.length; i++) {
      if (labels[i] < 0 || labels[i] >= classes) {
        throw MetricCode.DATA.at(
            data.where() + ", array '" + data.labelsName() + "', sample " + i,
            "classes from 0 to " + (classes - 1),
            labels[i],
            "give the labels of this model");
      }
    }
  }

  @Override
  public String name() {
    return "top-1";
  }

  @Override
  public String unit() {
    return "samples";
  }

  @Override
  public int samples() {
    return data.count();
  }

  @Override
  public Score score(CompiledModel program, int sample) {
    TensorType type = program.description().inputs().getFirst().type();
    double[] values = new double[data.length()];
    for (int i = 0; i < values.length; i++) {
      values[i] = scaling.apply(data.samples(), sample * values.length + i);
    }
    Tensor logits = program.run(List.of(Tensor.ofDoubles(type, values))).getFirst();
    int best = 0;
    for (int i = 1; i < logits.size(); i++) {
      best = logits.getDouble(i) > logits.getDouble(best) ? i : best;
    }
    return new Score(best == labels[sample] ? 1 : 0, 1);
  }

  @Override
  public boolean isLargerBetter() {
    return true;
  }

  @Override
  public double value(double mean) {
    return mean;
  }
}
