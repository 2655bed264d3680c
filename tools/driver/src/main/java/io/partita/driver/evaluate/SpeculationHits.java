package io.partita.driver.evaluate;

import io.partita.backend.emitted.ProgramInterface;
import io.partita.driver.text.LanguageModel;
import io.partita.ir.tensor.Tensor;
import io.partita.passes.graph.speculate.SpeculateAttention;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Counts accepted approximations of attention, by block and by the position of the token. */
public final class SpeculationHits implements LanguageModel.Observer {
  private final List<Integer> outputs;

  /** By block and position. */
  private final List<List<Long>> accepted = new ArrayList<>();

  /** The number of tokens at each position. */
  private final List<Long> tokens = new ArrayList<>();

  SpeculationHits(ProgramInterface program) {
    outputs =
        IntStream.range(0, program.outputs().size())
            .filter(i -> program.outputs().get(i).name().startsWith(SpeculateAttention.REPORT))
            .boxed()
            .toList();
    outputs.forEach(output -> accepted.add(new ArrayList<>()));
  }

  @Override
  public synchronized void ran(List<Tensor> results, int first, int count) {
    while (tokens.size() < first + count) {
      tokens.add(0L);
      accepted.forEach(block -> block.add(0L));
    }
    for (int i = 0; i < count; i++) {
      int position = first + i;
      tokens.set(position, tokens.get(position) + 1);
      for (int block = 0; block < outputs.size(); block++) {
        if (results.get(outputs.get(block)).getBoolean(i)) {
          accepted.get(block).set(position, accepted.get(block).get(position) + 1);
        }
      }
    }
  }

  public int blocks() {
    return outputs.size();
  }

  /** The number of positions that occurred. */
  public int positions() {
    return tokens.size();
  }

  /**
   * Returns the part of attentions whose approximation was accepted; NaN without any.
   *
   * @param firstBlock the first block
   * @param lastBlock the block after the last
   * @param from the first position
   * @param to the position after the last
   */
  public double rate(int firstBlock, int lastBlock, int from, int to) {
    long hits = 0;
    long all = 0;
    for (int block = firstBlock; block < lastBlock; block++) {
      for (int position = from; position < to; position++) {
        hits += accepted.get(block).get(position);
        all += tokens.get(position);
      }
    }
    return (double) hits / all;
  }

  /** The part of all attentions whose approximation was accepted. */
  public double rate() {
    return rate(0, blocks(), 0, positions());
  }
}
