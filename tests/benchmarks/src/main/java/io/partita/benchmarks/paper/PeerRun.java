package io.partita.benchmarks.paper;

/**
 * A network beside what Deeploy's code takes, in cycles.
 *
 * @param integer whether it computes with integers
 * @param kernel whether it is a single kernel, with cold caches
 */
public record PeerRun(String network, boolean integer, boolean kernel, long deeploy, long cycles) {
  public double ratio() {
    return (double) cycles / deeploy;
  }
}
