package io.partita.cli;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetCode;
import java.util.LinkedHashMap;
import java.util.Map;
import picocli.CommandLine.Option;

/** What changes a target. */
final class TargetOptions {
  @Option(
      names = "--set",
      paramLabel = "NAME=VALUE",
      description =
          "Set a parameter of the target, or the size of a memory, such as l3=128MiB. May be given"
              + " several times.")
  Map<String, String> settings = new LinkedHashMap<>();

  /** A number alone is one of bytes. */
  Map<String, Quantity> quantities() {
    Map<String, Quantity> quantities = new LinkedHashMap<>();
    settings.forEach(
        (name, text) ->
            quantities.put(
                name,
                Quantity.parse(text)
                    .orElseThrow(
                        () ->
                            new PartitaException(
                                TargetCode.ARGUMENT,
                                "option --set",
                                "NAME=QUANTITY, such as l3=128MiB or chips=16",
                                name + "=" + text,
                                "correct the quantity"))));
    return quantities;
  }
}
