package io.partita.frontend.onnx;

/** Names of operator sets. */
final class Domains {
  private Domains() {}

  /** ONNX's own domain has two names, of which the empty one is used here. */
  static String canonical(String domain) {
    return domain.equals("ai.onnx") ? "" : domain;
  }

  static String display(String domain) {
    return domain.isEmpty() ? "ai.onnx" : domain;
  }
}
