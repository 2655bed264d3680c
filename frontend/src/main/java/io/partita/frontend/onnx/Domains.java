package io.partita.frontend.onnx;

/** Domains of operator sets. */
final class Domains {
  private Domains() {}

  /** Normalises the domain of ONNX, which has two names, to the empty one. */
  static String canonical(String domain) {
    return domain.equals("ai.onnx") ? "" : domain;
  }

  static String display(String domain) {
    return domain.isEmpty() ? "ai.onnx" : domain;
  }
}
