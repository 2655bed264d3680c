package io.partita.cli;

import io.partita.driver.Target;
import java.util.ArrayList;

/** The names of the targets, for help and completion. */
final class TargetNames extends ArrayList<String> {
  private static final long serialVersionUID = 1L;

  TargetNames() {
    super(Target.names());
  }
}
