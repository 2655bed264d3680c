package io.partita.driver.chip;

import io.partita.backend.metalium.MetaliumBackend;
import io.partita.driver.CompilationTarget;
import io.partita.driver.DriverCode;
import io.partita.driver.Sharding;
import io.partita.driver.cases.MetaliumRunner;
import io.partita.driver.cases.ModuleRunner;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.target.TargetDescription;
import io.partita.ir.target.TargetLibrary;
import java.util.Optional;

/** A Tenstorrent chip, for which a model is compiled to TT-Metalium kernels. */
public record MetaliumTarget(TargetDescription description) implements CompilationTarget {
  /**
   * Returns the target of a reference such as {@code n150}.
   *
   * @throws PartitaException with {@link io.partita.ir.target.TargetCode}s
   */
  public static MetaliumTarget of(String reference) {
    return new MetaliumTarget(TargetLibrary.find(reference));
  }

  @Override
  public MetaliumBackend backend() {
    return new MetaliumBackend(description);
  }

  @Override
  public void verifyDevices(int count) {
    if (count > 1) {
      throw new PartitaException(
          DriverCode.DEVICES,
          "--devices " + count,
          "one device, for which TT-Metalium kernels are emitted",
          Integer.toString(count),
          "leave out --devices, or choose --target java or siracusa");
    }
  }

  @Override
  public String name() {
    return description.name();
  }

  @Override
  public ModuleRunner runner(Optional<Sharding> sharding) {
    return new MetaliumRunner(this, sharding);
  }
}
