package io.partita.backend.emitted;

import java.util.Optional;

/** The description of an emitted program, which a backend extends by what its runner needs. */
public interface Description {
  /** The interface in terms of the whole model. */
  ProgramInterface whole();

  /** The number of devices. */
  int devices();

  /** The qualified name of the class, for a program in Java. */
  Optional<String> mainClass();

  /** One line about the program. */
  String summary();
}
