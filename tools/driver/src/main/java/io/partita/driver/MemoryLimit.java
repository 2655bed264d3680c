package io.partita.driver;

import io.partita.ir.diagnostic.Diagnostic;

/** What to say when the heap is full. */
public final class MemoryLimit {
  private MemoryLimit() {}

  public static Diagnostic diagnostic(String where) {
    return new Diagnostic(
        DriverCode.OUT_OF_MEMORY,
        where,
        "a heap that holds the model's working data",
        "a heap of " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB, which is full",
        "give it more, for instance: partita -J-Xmx8g …");
  }
}
