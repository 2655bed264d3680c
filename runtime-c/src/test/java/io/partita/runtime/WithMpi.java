package io.partita.runtime;

import java.util.Optional;

/** Programs of several ranks. */
final class WithMpi extends WithTool<Mpi> {
  WithMpi() {
    super(
        Mpi.class,
        "NO MPI: chips as ranks are NOT TESTED; get it by:"
            + " apt-get install openmpi-bin libopenmpi-dev");
  }

  @Override
  Optional<Mpi> find() {
    return Mpi.find();
  }
}
