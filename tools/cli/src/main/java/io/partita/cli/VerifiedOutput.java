package io.partita.cli;

import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.Diagnostic;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/** A stream that remembers failed writes, which printers ignore. */
final class VerifiedOutput extends FilterOutputStream {
  private IOException failure;

  VerifiedOutput(OutputStream out) {
    super(out);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    try {
      out.write(bytes, offset, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /** The first failure to write, if any. */
  Optional<Diagnostic> failure() {
    return Optional.ofNullable(failure)
        .map(
            lost ->
                new Diagnostic(
                    DriverCode.FILE,
                    "standard output",
                    "a file, pipe or terminal that can be written",
                    String.valueOf(lost.getMessage()),
                    "check the free space; a pipe must be read to its end"));
  }
}
