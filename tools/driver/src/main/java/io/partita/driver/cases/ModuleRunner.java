package io.partita.driver.cases;

import io.partita.backend.emitted.probe.ProbeComparison;
import io.partita.ir.graph.Module;
import io.partita.ir.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** One way to run a module. */
public interface ModuleRunner {
  /** Prepares the module; {@link Prepared#run} may then be called several times. */
  Prepared prepare(Module module);

  /** A prepared module. */
  interface Prepared extends AutoCloseable {
    /** Returns the outputs in the graph's order, for inputs in the graph's order. */
    List<Tensor> run(List<Tensor> inputs);

    /**
     * Runs with probes and compares each step with what its arithmetic allows; empty if that is the
     * arithmetic of the element types.
     */
    default Optional<ProbeComparison.Result> compareSteps(List<Tensor> inputs) {
      return Optional.empty();
    }

    @Override
    default void close() {}
  }
}
