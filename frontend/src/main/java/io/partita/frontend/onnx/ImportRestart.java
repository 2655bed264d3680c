package io.partita.frontend.onnx;

/** Ends an import: what it found out about the inputs' extents is to be known from its start. */
final class ImportRestart extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ImportRestart() {
    super("import again", null, false, false);
  }
}
