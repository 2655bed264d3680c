package io.partita.frontend.onnx;

/** Ends an import that must restart with the facts it found about the extents of inputs. */
final class ImportRestart extends RuntimeException {
  private static final long serialVersionUID = 1L;

  ImportRestart() {
    super("import again", null, false, false);
  }
}
