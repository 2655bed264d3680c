package io.partita.cli;

import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.Diagnostic;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/** A stream that remembers that something couldn't be written to it. Printers pass over that. */
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

  /** What couldn't be written, if anything. */
  Optional<Diagnostic> failure() {
    return Optional.ofNullable(failure)
        .map(
            lost ->
                new Diagnostic(
                    DriverCode.FILE,
                    "the standard output",
                    "a file, pipe or terminal that takes what is printed",
                    String.valueOf(lost.getMessage()),
                    "check the free space; a pipe must be read to its end"));
  }
}
