package io.partita.backend.metalium;

import io.partita.backend.emitted.ProgramCode;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.probe.Agreement;
import io.partita.backend.emitted.probe.Finding;
import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.eval.Shards;
import io.partita.ir.file.ScratchFolder;
import io.partita.ir.graph.Graph;
import io.partita.ir.graph.Node;
import io.partita.ir.graph.Origin;
import io.partita.ir.graph.Value;
import io.partita.ir.op.Communication.Exchange;
import io.partita.ir.tensor.Tensor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * Runs kernels and compares what each launch computes on each chip with the reference, applied to
 * the chip's data before the launch.
 *
 * @param limit the time limit of the run
 * @param tolerance relative to an element and to the largest of its tensor; if empty, that which is
 *     derived for each element from how its kernel rounds ({@link KernelIntervals})
 */
public record KernelComparison(KernelProgram program, Duration limit, OptionalDouble tolerance) {
  /**
   * @param inputs the inputs of the whole model, in its order
   * @throws PartitaException P5102 if it can't run, P5106 if there is no reference
   */
  public ProbeComparison.Result run(List<Tensor> inputs) {
    ProgramInterface whole = program.whole();
    List<ChipValues> chips = new ArrayList<>();
    for (int chip = 0; chip < whole.mesh().devices(); chip++) {
      chips.add(ChipValues.read(program.folder(), chip, parts(whole, chip, inputs)));
    }
    try (ScratchFolder scratch = new ScratchFolder()) {
      Path probes = scratch.path().resolve("probes");
      String message = "";
      try (KernelSession session = new KernelSession(program, limit, Optional.of(probes))) {
        session.run(inputs);
      } catch (PartitaException e) {
        if (e.diagnostics().getFirst().code() != ProgramCode.PROGRAM_STOPPED) {
          throw e;
        }
        message = e.diagnostics().getFirst().found();
      }
      return new Comparison(chips, tolerance).run(LaunchRecord.read(probes, chips), message);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Map<String, Tensor> parts(ProgramInterface whole, int chip, List<Tensor> inputs) {
    Map<String, Tensor> parts = new HashMap<>();
    Iterator<Tensor> given = inputs.iterator();
    for (ProgramInterface.Port port : whole.inputs()) {
      Tensor tensor = given.next();
      if (port.sharded().layout().holds(chip)) {
        parts.put(port.name(), Shards.part(tensor, port.sharded().layout(), chip));
      }
    }
    return parts;
  }

  /** Compares records in their order. */
  private static final class Comparison {
    private final List<ChipValues> chips;
    private final OptionalDouble tolerance;
    private final int launches;
    private final Map<Integer, Exchanged> exchanged = new HashMap<>();
    private Optional<Finding> finding = Optional.empty();
    private double largest;
    private String largestAt = "";

    Comparison(List<ChipValues> chips, OptionalDouble tolerance) {
      this.chips = chips;
      this.tolerance = tolerance;
      this.launches =
          1
              + chips.stream()
                  .flatMap(chip -> chip.launches().stream())
                  .mapToInt(ChipValues.Launched::number)
                  .max()
                  .orElse(-1);
    }

    ProbeComparison.Result run(List<LaunchRecord> records, String message) {
      List<Iterator<ChipValues.Launched>> expected =
          chips.stream().map(chip -> chip.launches().iterator()).toList();
      for (LaunchRecord record : records) {
        if (finding.isPresent()) {
          break;
        }
        ChipValues.Launched launched = expected.get(record.chip()).next();
        for (int i = 0; finding.isEmpty() && i < record.results().size(); i++) {
          ChipValues.Result result = launched.results().get(i);
          boolean isSkipped =
              record.words().subList(0, result.words()).stream().anyMatch(word -> word == 0);
          if (!isSkipped && result.value().isPresent()) {
            compare(record.chip(), launched, result.value().get(), record, i);
          }
        }
      }
      if (finding.isEmpty()) {
        unfinished(expected, message);
      }
      return new ProbeComparison.Result(
          finding, message, chips.size(), launches, largest, largestAt);
    }

    /** The first launch that hasn't ended, if the program stopped. */
    private void unfinished(List<Iterator<ChipValues.Launched>> left, String message) {
      for (int chip = 0; chip < left.size(); chip++) {
        if (left.get(chip).hasNext()) {
          ChipValues.Launched next = left.get(chip).next();
          if (finding.isEmpty() || next.number() < finding.get().step()) {
            finding = Optional.of(stops(chip, next.number(), next.origin()));
          }
        }
      }
      if (finding.isEmpty() && !message.isEmpty()) {
        finding = Optional.of(stops(0, launches, Origin.NONE));
      }
    }

    private Finding stops(int chip, int launch, Origin origin) {
      return new Finding(
          Finding.Kind.STOPS,
          chip,
          launch,
          launches,
          origin,
          "",
          "that the launch ends",
          "that it doesn't");
    }

    private void compare(
        int chip, ChipValues.Launched launched, Value value, LaunchRecord record, int result) {
      ChipValues own = chips.get(chip);
      Tensor found = record.tensor(result, value.type());
      // Sums in 16 bits lose more than any fixed tolerance.
      boolean isDerived = tolerance.isEmpty() || launched.sumsInBf16();
      Optional<Tensor> expected;
      Optional<Intervals> tolerated;
      if (value.definition().op() instanceof Exchange exchange) {
        Exchanged results = exchange(exchange.sync());
        expected = Optional.ofNullable(results.expected.get(chip));
        tolerated = Optional.ofNullable(results.tolerated.get(chip));
      } else {
        expected = own.computed(value);
        tolerated = isDerived ? own.tolerated(value, launched.sumsInBf16()) : Optional.empty();
        if (tolerance.isPresent() && expected.isPresent()) {
          Tensor reference = expected.get();
          tolerated = tolerated.map(each -> each.widened(reference, tolerance.getAsDouble()));
        }
      }
      own.put(value, found);
      if (expected.isEmpty() || isDerived && tolerated.isEmpty()) {
        return;
      }
      Agreement agreement =
          isDerived
              ? tolerated.get().agreement(expected.get(), found)
              : Agreement.of(expected.get(), found, tolerance.getAsDouble());
      if (agreement.first().isPresent()) {
        int index = agreement.first().getAsInt();
        finding =
            Optional.of(
                new Finding(
                    Finding.Kind.DIVERGES,
                    chip,
                    launched.number(),
                    launches,
                    launched.origin(),
                    "element " + index,
                    isDerived ? tolerated.get().text(index) : Agreement.text(expected.get(), index),
                    Agreement.text(found, index)
                        + " (%d of %d elements differ)"
                            .formatted(agreement.wrong(), found.size())));
      } else if (agreement.largest() > largest) {
        largest = agreement.largest();
        largestAt =
            "chip %d, launch %d, node %s"
                .formatted(chip, launched.number(), launched.origin().text());
      }
    }

    /** What each chip has after an exchange: the reference's result, and what it may be. */
    private record Exchanged(Map<Integer, Tensor> expected, Map<Integer, Intervals> tolerated) {}

    private Exchanged exchange(int sync) {
      return exchanged.computeIfAbsent(sync, this::exchanged);
    }

    private Exchanged exchanged(int sync) {
      Map<Integer, Node> nodes = new HashMap<>();
      Map<Integer, Tensor> operands = new HashMap<>();
      Map<Integer, Tensor> low = new HashMap<>();
      Map<Integer, Tensor> high = new HashMap<>();
      for (int chip = 0; chip < chips.size(); chip++) {
        ChipValues own = chips.get(chip);
        Optional<Node> node = node(own.graph(), sync);
        if (node.isPresent()) {
          Optional<Tensor> nothing = Optional.of(Tensor.filled(node.get().result().type(), 0));
          Optional<Value> operand = node.get().operands().stream().findFirst();
          Optional<Tensor> before = operand.isEmpty() ? nothing : own.get(operand.get());
          if (before.isPresent()) {
            nodes.put(chip, node.get());
            operands.put(chip, before.get());
            if (tolerance.isEmpty()) {
              Intervals held =
                  operand.flatMap(own::held).orElseGet(() -> Intervals.exactly(before.get()));
              low.put(chip, held.low());
              high.put(chip, held.high());
            }
          }
        }
      }
      KernelArithmetic arithmetic = chips.getFirst().arithmetic();
      Map<Integer, Intervals> tolerated = new HashMap<>();
      if (tolerance.isEmpty()) {
        // Sums and extremes keep the order of all their terms.
        Map<Integer, Tensor> least = ExchangedVectors.of(nodes, low, arithmetic);
        Map<Integer, Tensor> most = ExchangedVectors.of(nodes, high, arithmetic);
        least.forEach((chip, tensor) -> tolerated.put(chip, new Intervals(tensor, most.get(chip))));
      }
      return new Exchanged(ExchangedVectors.of(nodes, operands, arithmetic), tolerated);
    }

    private static Optional<Node> node(Graph graph, int sync) {
      return graph.nodes().stream()
          .filter(node -> node.op() instanceof Exchange exchange && exchange.sync() == sync)
          .findFirst();
    }
  }
}
