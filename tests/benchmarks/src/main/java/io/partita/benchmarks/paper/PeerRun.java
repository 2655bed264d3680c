package io.partita.benchmarks.paper;

/**
 * A network beside what Deeploy's code takes, in cycles.
 *
 * @param integer whether it computes with integers
 * @param kernel whether it is a single kernel, with cold caches
 * @param cycles 0 if the network isn't there
 */
public record PeerRun(String network, boolean integer, boolean kernel, long deeploy, long cycles) {
  /** The goals, in cycles of Deeploy. */
  static final double INTEGER = 0.5;

  static final double FLOAT = 0.6;
  static final double KERNEL = 1;

  boolean isThere() {
    return cycles > 0;
  }

  double bound() {
    return kernel ? KERNEL : integer ? INTEGER : FLOAT;
  }

  public double ratio() {
    return (double) cycles / deeploy;
  }
}
