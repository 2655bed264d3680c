package io.partita.backend.metalium;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class PythonLayoutTest {
  @Test
  void functionsAreSeparated() {
    assertThat(
            PythonLayout.of(
                """
                X = 1

                class A:
                    def __init__(self):
                        self.x = [
                            X
                        ]
                    def one(self):

                        def inner():
                            pass

                def f():
                    pass
                def g():
                    pass

                if __name__ == "__main__":
                    f()
                """))
        .isEqualTo(
            """
            X = 1


            class A:
                def __init__(self):
                    self.x = [
                        X
                    ]

                def one(self):

                    def inner():
                        pass


            def f():
                pass


            def g():
                pass


            if __name__ == "__main__":
                f()
            """);
  }

  @Test
  void longListsHaveLinesOfTheirOwn() {
    String short_ = "(1, 2), ".repeat(12) + "f(x[1], 3)";
    assertThat(PythonLayout.of("    operands=[" + short_ + "],\n"))
        .isEqualTo("    operands=[\n        " + short_ + "\n    ],\n");
    String long_ = "(1, 2), ".repeat(16) + "f(x[1], 3)";
    assertThat(PythonLayout.of("    sizes=[" + long_ + "],\n"))
        .isEqualTo(
            "    sizes=[\n"
                + "        (1, 2),\n".repeat(16)
                + "        f(x[1], 3),\n"
                + "    ],\n");
  }

  /** That of two groups of chips, with all kinds of launches. */
  @Test
  void hostProgramsAreLaidOut() throws IOException {
    String host = SpeculatingChipsTest.hostOfDecoder();
    assertThat(host.lines()).allMatch(line -> line.length() <= 120);
    assertThat(host)
        .doesNotContain("\n\n\n\n")
        .contains("\n\n\nclass Model:\n    def __init__", "\n\n\ndef main(", "\n\n\nif __name__");
    assertThat(host.lines().filter(line -> line.startsWith("    def ")).count())
        .isEqualTo(host.split("\n\n    def |:\n    def ", -1).length - 1);
  }
}
