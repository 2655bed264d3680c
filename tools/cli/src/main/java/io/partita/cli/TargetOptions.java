package io.partita.cli;

import io.partita.driver.chip.TargetSettings;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** Options that change a target. */
final class TargetOptions {
  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "Set a parameter of the target, or the size of a memory, such as l3=128MiB; for C also"
              + " double_buffer=off, prefetch=off, near_values=off, overlap=off or least_traffic=on. May be given"
              + " several times.")
  Map<String, String> values = new LinkedHashMap<>();

  TargetSettings settings() {
    return new TargetSettings(values);
  }
}
