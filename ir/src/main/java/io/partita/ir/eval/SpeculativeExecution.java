package io.partita.ir.eval;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Algorithms 1 and 2 of "Attention-Level Speculation", for one token. Both are specifications: the
 * rewrite of the graph has to give the same results.
 */
public final class SpeculativeExecution {
  private SpeculativeExecution() {}

  /** A decoder of which each device has an instance, with its own KV cache. */
  public interface Decoder {
    int layers();

    /** Appends the token's key and value to the cache of a layer, and returns its query. */
    double[] beforeAttention(int layer, double[] x);

    FlashDecode.Result attention(int layer, double[] query);

    /** The input of the next layer, for the input of this one. */
    double[] afterAttention(int layer, double[] x, double[] attention);
  }

  /**
   * Algorithm 1: a new thread continues with the approximate attention.
   *
   * @param accepted receives for each layer whether the new thread became the main thread
   */
  public static double[] byThreads(
      Decoder decoder, double[] input, double lambda, List<Boolean> accepted) {
    double[] x = input;
    for (int i = 0; i < decoder.layers(); i++) {
      int layer = i;
      double[] residual = x;
      double[] query = decoder.beforeAttention(layer, x);
      FlashDecode.Result attention = decoder.attention(layer, query);
      CompletableFuture<double[]> newThread =
          CompletableFuture.supplyAsync(
              () -> decoder.afterAttention(layer, residual, attention.approximate()));
      accepted.add(FlashDecode.isAccepted(List.of(attention), lambda));
      if (accepted.getLast()) {
        x = newThread.join();
      } else {
        newThread.cancel(true);
        x = decoder.afterAttention(layer, residual, attention.exact());
      }
    }
    return x;
  }

  /** What a device did with an operation. */
  public record Event(int layer, int device, String what) {}

  /**
   * Algorithm 2: two devices with priorities gate each operation. Before attention they exchange
   * the residual of the device with the higher priority, so that both write the same keys and
   * values although one of them skipped the operations before (footnote 2 of the paper).
   */
  public static final class ByPriority {
    public static final int SKIP = 0;
    public static final int RECEIVER = 1;
    public static final int EXACT = 2;

    private final List<Event> timeline = new ArrayList<>();
    private final List<int[]> priorities = new ArrayList<>();
    private final Decoder[] devices;
    private final double lambda;

    public ByPriority(Decoder first, Decoder second, double lambda) {
      this.devices = new Decoder[] {first, second};
      this.lambda = lambda;
    }

    /** What devices did in each layer. */
    public List<Event> timeline() {
      return List.copyOf(timeline);
    }

    /** The priorities of both devices after the attention of each layer. */
    public List<int[]> priorities() {
      return List.copyOf(priorities);
    }

    public double[] run(double[] input) {
      double[][] x = {input, input};
      int[] p = {EXACT, SKIP};
      for (int layer = 0; layer < devices[0].layers(); layer++) {
        int sender = p[0] > p[1] ? 0 : 1;
        int receiver = 1 - sender;
        double[] residual = x[sender];
        double[][] query = new double[2][];
        for (int device = 0; device < 2; device++) {
          query[device] = devices[device].beforeAttention(layer, residual);
        }
        FlashDecode.Result result = devices[sender].attention(layer, query[sender]);
        boolean accepted = FlashDecode.isAccepted(List.of(result), lambda);
        p[sender] = accepted ? SKIP : EXACT;
        p[receiver] = RECEIVER;
        priorities.add(p.clone());
        double[][] attention = new double[2][];
        attention[sender] = result.exact();
        // The sender has sent it before it had the exact result.
        attention[receiver] = result.approximate();
        for (int device = 0; device < 2; device++) {
          if (p[device] == SKIP) {
            timeline.add(new Event(layer, device, "skips"));
            x[device] = null;
          } else {
            timeline.add(new Event(layer, device, device == sender ? "exact" : "approximate"));
            x[device] = devices[device].afterAttention(layer, residual, attention[device]);
          }
        }
      }
      return x[p[0] > p[1] ? 0 : 1];
    }
  }
}
