package io.partita.benchmarks.paper;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** All that the command measures: the JSON beside the page. */
public record Measurements(
    List<KernelRun> kernels,
    List<ElementsRun> elements,
    List<BlockRun> blocks,
    List<Misfit> misfits,
    List<ModelRun> models,
    List<PeerRun> peers) {
  private static final JSON FORMAT =
      JSON.std.with(JSON.Feature.PRETTY_PRINT_OUTPUT).without(JSON.Feature.USE_IS_GETTERS);

  public Measurements {
    kernels = List.copyOf(kernels);
    elements = List.copyOf(elements);
    blocks = List.copyOf(blocks);
    misfits = List.copyOf(misfits);
    models = List.copyOf(models);
    peers = List.copyOf(peers);
  }

  public static Measurements read(Path file) throws IOException {
    return FORMAT.beanFrom(Measurements.class, file.toFile());
  }

  public String json() throws IOException {
    return FORMAT.asString(this) + "\n";
  }

  /** Runs of a workload, by number of chips. */
  List<BlockRun> of(Workload workload) {
    return blocks.stream().filter(each -> each.workload() == workload).toList();
  }

  Optional<BlockRun> of(Workload workload, int chips) {
    return of(workload).stream().filter(each -> each.run().chips() == chips).findFirst();
  }

  Optional<KernelRun> kernel(String name) {
    return kernels.stream().filter(each -> each.name().equals(name)).findFirst();
  }

  Optional<ModelRun> model(String name, int chips, int bits) {
    return models.stream()
        .filter(each -> each.model().equals(name) && each.chips() == chips && each.bits() == bits)
        .findFirst();
  }
}
