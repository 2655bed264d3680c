package io.partita.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.IVersionProvider;

/** The version the build wrote into the resource {@code version.txt}. */
final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() throws IOException {
    try (InputStream text = Version.class.getResourceAsStream("version.txt")) {
      return new String[] {
        "partita " + new String(text.readAllBytes(), StandardCharsets.UTF_8).strip()
      };
    }
  }
}
