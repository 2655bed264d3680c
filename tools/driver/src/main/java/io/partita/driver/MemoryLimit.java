package io.partita.driver;

import io.partita.ir.diagnostic.Diagnostic;

/** The diagnostic for a full heap. */
public final class MemoryLimit {
  private MemoryLimit() {}

  public static Diagnostic diagnostic(String where) {
    return new Diagnostic(
        DriverCode.OUT_OF_MEMORY,
        where,
        "a heap that holds the model's working data",
        "a heap of " + (Runtime.getRuntime().maxMemory() >> 20) + " MiB, which is full",
        "increase it, for example: partita -J-Xmx8g …");
  }
}
