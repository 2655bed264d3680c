package io.partita.tests.hostile;

import org.junit.jupiter.api.Tag;

/** More trials of {@link FuzzTest}. */
@Tag("thorough")
class LongFuzzTest extends FuzzTest {
  @Override
  double seconds() {
    return 20;
  }
}
