package io.partita.tests.hostile;

import org.junit.jupiter.api.Tag;

/** The same trials and many more. */
@Tag("thorough")
class LongFuzzTest extends FuzzTest {
  @Override
  double seconds() {
    return 40;
  }
}
