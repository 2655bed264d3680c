package io.partita.passes.mesh.speculate;

import static java.util.stream.Collectors.joining;

import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Node;
import io.partita.passes.graph.speculate.SpeculationCode;
import java.util.List;
import java.util.stream.LongStream;

/** Modules on which groups of devices can't speculate. */
final class SpeculationFailure {
  private static final String PASS = "pass speculate";

  private SpeculationFailure() {}

  static PartitaException noCache(String graph) {
    return SpeculationCode.ATTENTION.at(
        PASS + ", graph \"" + graph + "\"",
        "attention of one token over a KV cache, without another mask",
        "none",
        "speculate on a decoder, after kv-state");
  }

  static PartitaException twice() {
    return SpeculationCode.GROUPS.at(
        PASS, "a module without speculation", "a mesh with two groups already", "run it once");
  }

  static PartitaException oddDevices(long devices) {
    // A target may have no more devices than it was asked for.
    List<Long> even =
        LongStream.of(devices - 1, devices + 1).filter(count -> count >= 2).boxed().toList();
    return SpeculationCode.GROUPS.at(
        PASS + ", devices",
        "an even number of 2 or more: half of the devices speculate for the other half",
        devices,
        even.stream().map(count -> "--devices " + count).collect(joining(" or ", "write ", ""))
            + even.stream()
                .map(count -> "devices=" + count)
                .collect(joining(" or ", ", in passes ", "")));
  }

  static PartitaException otherDevices(long devices, int before) {
    return SpeculationCode.GROUPS.at(
        PASS + ", devices",
        "twice the " + before + " devices of the module",
        devices,
        "write devices=" + 2 * before + ", or leave it out");
  }

  static PartitaException noEnd(Node attention) {
    return SpeculationCode.GROUPS.at(
        PASS + ", " + attention,
        "a value through which all that follows depends on this attention",
        "none before the next cache is written",
        "leave speculate out for this model");
  }
}
