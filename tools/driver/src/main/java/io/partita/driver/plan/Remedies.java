package io.partita.driver.plan;

import io.partita.driver.DecoderDimensions;
import io.partita.driver.Preparation;
import io.partita.frontend.onnx.OnnxModel;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.graph.Module;
import io.partita.ir.target.ChipKind;
import io.partita.ir.target.Dimension;
import io.partita.ir.target.Memory;
import io.partita.ir.target.Parameter;
import io.partita.ir.target.Quantity;
import io.partita.ir.target.TargetChange;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.Unit;
import io.partita.ir.text.PirFile;
import io.partita.passes.planning.residency.Content;
import io.partita.passes.planning.residency.Shortage;
import io.partita.passes.planning.search.CandidatePlan;
import io.partita.passes.planning.search.PlanSearch;
import io.partita.passes.planning.search.StrategyChoice;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.stream.Collectors;

/**
 * Finds changes that make a model fit: more devices, another strategy, a smaller KV cache, a
 * shorter sequence, a smaller batch, a larger memory. Each change is planned and fits.
 */
final class Remedies {
  /** The sizes to try. */
  private static final int MAX_TRIES = 12;

  /** The numbers of devices to try. */
  private static final int MAX_COUNTS = 6;

  /** The number of bisection steps, after which the capacity is within 3 % of the range. */
  private static final int REFINEMENTS = 5;

  private final Planning planning;
  private final PlanRequest request;
  private final CandidatePlan failed;
  private final Shortage worst;

  Remedies(Planning planning, PlanRequest request, CandidatePlan failed) {
    this.planning = planning;
    this.request = request;
    this.failed = failed;
    this.worst = failed.worst();
  }

  List<Remedy> find() {
    List<Remedy> found = new ArrayList<>();
    anotherStrategy().ifPresent(found::add);
    moreDevices().ifPresent(found::add);
    smallerCache().ifPresent(found::add);
    found.addAll(smallerDimensions());
    largerMemory().ifPresent(found::add);
    return found;
  }

  /** A change that causes another error is no remedy. */
  private Optional<CandidatePlan> fitting(PlanRequest changed) {
    try {
      return planning.fitting(changed);
    } catch (PartitaException e) {
      return Optional.empty();
    }
  }

  /**
   * Whether a smaller extent may make the model fit: not if the least one, which can be planned,
   * doesn't. That saves planning all those in between.
   */
  private boolean mayHelp(LongFunction<PlanRequest> withExtent) {
    try {
      return planning.fitting(withExtent.apply(1)).isPresent();
    } catch (PartitaException tooSmall) {
      return true;
    }
  }

  private boolean isAuto() {
    return request.strategy().equals(StrategyChoice.AUTO);
  }

  private Optional<Remedy> anotherStrategy() {
    if (isAuto()) {
      return Optional.empty();
    }
    DeviceChoice same = new DeviceChoice.Exactly(failed.devices());
    return fitting(request.with(StrategyChoice.AUTO).with(same))
        .map(
            plan ->
                new Remedy(
                    "--strategy " + plan.strategy() + " --devices " + failed.devices(),
                    "another strategy"));
  }

  private Optional<Remedy> moreDevices() {
    Optional<Parameter> parameter = TargetChange.deviceParameter(request.target());
    int here = request.target().deviceCount();
    int most = parameter.map(each -> (int) each.high().value()).orElse(here);
    StrategyChoice strategy =
        request.strategy().fixed().isEmpty() ? request.strategy() : kinds(request.strategy());
    List<Integer> counts =
        PlanSearch.deviceCounts(most).stream()
            .filter(count -> count > failed.devices() && weightBytes() / count <= room())
            .limit(MAX_COUNTS)
            .toList();
    for (int count : counts) {
      PlanRequest changed =
          request
              .with(count > here ? withDevices(parameter.orElseThrow(), count) : request.target())
              .with(new DeviceChoice.Exactly(count))
              .with(strategy);
      if (fitting(changed).isPresent()) {
        String options =
            (count > here ? "--set " + parameter.orElseThrow().name() + "=" + count + " " : "")
                + "--devices "
                + count
                + (strategy.equals(request.strategy()) ? "" : " --strategy " + names(strategy));
        return Optional.of(new Remedy(options, "more devices; the fewest found"));
      }
    }
    return Optional.empty();
  }

  private TargetDescription withDevices(Parameter parameter, int count) {
    return TargetChange.set(
        request.target(), Map.of(parameter.name(), new Quantity(count, Unit.ONE)));
  }

  private static StrategyChoice kinds(StrategyChoice strategy) {
    return new StrategyChoice(strategy.kinds(), Optional.empty(), Set.of());
  }

  private static String names(StrategyChoice strategy) {
    return strategy.kinds().stream()
        .map(kind -> kind.name().toLowerCase(Locale.ROOT))
        .collect(Collectors.joining(","));
  }

  private long weightBytes() {
    Module module = planning.prepared(request);
    return module.graph().nodes().stream()
        .filter(node -> node.op() instanceof io.partita.ir.op.Source.Constant)
        .mapToLong(node -> node.result().type().bytes())
        .sum();
  }

  private long room() {
    return request.target().chips().stream()
        .mapToLong(chip -> chip.memories().stream().mapToLong(Memory::bytes).sum())
        .max()
        .orElse(0);
  }

  private Optional<Remedy> smallerCache() {
    Set<String> dims = cacheDims();
    if (dims.isEmpty() || !mayHelp(request::withCapacity)) {
      return Optional.empty();
    }
    long capacity = capacity(dims);
    long smaller = Math.min(capacity - 1, capacityByBytes(capacity));
    for (int i = 0; i < MAX_TRIES && smaller >= 1; i++) {
      if (fitting(request.withCapacity(smaller)).isPresent()) {
        long most = enlarged(smaller, capacity);
        return Optional.of(new Remedy("--kv-capacity " + most, "a smaller KV cache"));
      }
      smaller /= 2;
    }
    return Optional.empty();
  }

  /** Bisects between a capacity that fits and one that doesn't. */
  private long enlarged(long fits, long fails) {
    long low = fits;
    long high = fails;
    for (int i = 0; i < REFINEMENTS && high - low > 1; i++) {
      long middle = (low + high) / 2;
      if (fitting(request.withCapacity(middle)).isPresent()) {
        low = middle;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private Set<String> cacheDims() {
    return PirFile.isPir(request.model().model())
        ? Set.of()
        : DecoderDimensions.cache(OnnxModel.read(request.model().model()));
  }

  private long capacity(Set<String> dims) {
    if (request.capacity().isPresent()) {
      return request.capacity().getAsLong();
    }
    return dims.stream()
        .filter(request.model().dims()::containsKey)
        .map(request.model().dims()::get)
        .findFirst()
        .orElse(Preparation.DEFAULT_CAPACITY);
  }

  /** Estimates the capacity by taking the shortage of a device from its cache. */
  private long capacityByBytes(long capacity) {
    long bytes =
        failed.report().devices().get(worst.device()).memories().stream()
            .mapToLong(memory -> memory.of(Content.STATES))
            .sum();
    long missing = worst.needed() - worst.available();
    return bytes <= missing
        ? capacity / 2
        : (long) (capacity * ((double) (bytes - missing) / bytes));
  }

  private List<Remedy> smallerDimensions() {
    List<Remedy> found = new ArrayList<>();
    Set<String> cache = cacheDims();
    for (Map.Entry<String, Long> dim : new TreeMap<>(request.model().dims()).entrySet()) {
      String name = dim.getKey();
      if (!cache.contains(name) && mayHelp(extent -> request.withDim(name, extent))) {
        smaller(name, dim.getValue()).ifPresent(found::add);
      }
    }
    return found;
  }

  private Optional<Remedy> smaller(String dim, long extent) {
    boolean isBatch = dim.toLowerCase(Locale.ROOT).contains("batch");
    for (long less = extent / 2; less >= 1; less /= 2) {
      if (fitting(request.withDim(dim, less)).isPresent()) {
        return Optional.of(
            new Remedy(
                "--dim " + dim + "=" + less, isBatch ? "a smaller batch" : "a shorter sequence"));
      }
    }
    return Optional.empty();
  }

  private Optional<Remedy> largerMemory() {
    ChipKind chip = request.target().chip(worst.chip()).orElseThrow();
    Memory memory = chip.memory(worst.memory()).orElseThrow();
    Optional<Parameter> parameter = TargetChange.memoryParameter(request.target(), memory);
    if (parameter.isEmpty() || parameter.get().high().dimension() != Dimension.BYTES) {
      return Optional.empty();
    }
    OptionalLong most = OptionalLong.of((long) parameter.get().high().value());
    long bytes = memory.bytes();
    Shortage shortage = worst;
    for (int i = 0; i < MAX_TRIES; i++) {
      bytes = rounded(bytes + Math.max(1, shortage.needed() - shortage.available()));
      if (bytes > most.getAsLong()) {
        return Optional.empty();
      }
      String setting = parameter.get().name() + "=" + bytes / Unit.MIB.toBase(1);
      setting = setting.replaceFirst("\\.0$", "") + "MiB";
      Quantity size = new Quantity(bytes / Unit.MIB.toBase(1), Unit.MIB);
      PlanRequest changed =
          request.with(TargetChange.set(request.target(), Map.of(parameter.get().name(), size)));
      if (fitting(changed).isPresent()) {
        return Optional.of(new Remedy("--set " + setting, "a larger " + memory.name()));
      }
    }
    return Optional.empty();
  }

  /** Rounds up to whole mebibytes. */
  private static long rounded(long bytes) {
    long unit = (long) Unit.MIB.toBase(1);
    return Math.ceilDiv(bytes, unit) * unit;
  }
}
