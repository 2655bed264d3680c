package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ProgressLineTest {
  private static long seconds(long count) {
    return TimeUnit.SECONDS.toNanos(count);
  }

  @Test
  void aStepOfUnknownExtentHasItsTimeOnly() {
    ProgressLine line = ProgressLine.start("reading m.onnx", seconds(100));

    assertThat(line.text(seconds(107))).isEqualTo("reading m.onnx… 7 s");
  }

  @Test
  void theRemainingTimeFollowsFromTheShareThatIsDone() {
    ProgressLine line =
        ProgressLine.start("starting", seconds(100))
            .share(0, seconds(110))
            .step("placing data", seconds(112))
            .share(0.25, seconds(120));

    assertThat(line.text(seconds(120))).isEqualTo("placing data… 8 s, about 30 s left");
    assertThat(line.text(seconds(140))).isEqualTo("placing data… 28 s, about 10 s left");
  }

  @Test
  void theEstimateIsOfAllStepsThatFollow() {
    ProgressLine line =
        ProgressLine.start("placing data", seconds(0))
            .share(0, seconds(0))
            .share(0.5, seconds(20))
            .step("printing C", seconds(25));

    assertThat(line.text(seconds(26))).isEqualTo("printing C… 1 s, about 14 s left");
  }

  @Test
  void onlyTerminalsShowTimes() {
    ProgressLine line =
        ProgressLine.start("placing data", seconds(0)).share(0, seconds(0)).share(0.5, seconds(4));

    assertThat(shown(line, true))
        .isEqualTo(
            "\r\u001b[Kplacing data… 5 s, about 3 s left\r\u001b[Kplacing data… 6 s, about 2 s left\r\u001b[K");
    assertThat(shown(line, false)).isEqualTo("placing data…" + System.lineSeparator());
  }

  @Test
  void otherLinesReplaceTheStep() {
    StringWriter written = new StringWriter();
    PrintWriter out = new PrintWriter(written);
    ProgressLine line = ProgressLine.start("checking a, 1 of 2", seconds(0));
    try (Progress progress = new Progress(out, true, line)) {
      progress.tick(seconds(2));
      progress.print(out, "PASS a");
    }
    assertThat(written.toString())
        .isEqualTo("\r\u001b[Kchecking a, 1 of 2… 2 s\r\u001b[KPASS a" + System.lineSeparator());
  }

  private static String shown(ProgressLine line, boolean terminal) {
    StringWriter written = new StringWriter();
    try (Progress progress = new Progress(new PrintWriter(written), terminal, line)) {
      progress.tick(seconds(5));
      progress.tick(seconds(6));
    }
    return written.toString();
  }

  @Test
  void longTimesAreInMinutes() {
    ProgressLine line =
        ProgressLine.start("evaluated 12 of 240 samples", seconds(0))
            .share(0, seconds(0))
            .share(0.05, seconds(30));

    assertThat(line.text(seconds(31)))
        .isEqualTo("evaluated 12 of 240 samples… 31 s, about 10 min left");
  }

  @Test
  void thereIsNoEstimateFromTooLittleOrWhenItsTimeIsOver() {
    ProgressLine line = ProgressLine.start("placing data", seconds(0)).share(0, seconds(0));

    assertThat(line.share(0.01, seconds(30)).text(seconds(30))).isEqualTo("placing data… 30 s");
    assertThat(line.share(0.5, seconds(0)).text(seconds(1))).isEqualTo("placing data… 1 s");
    assertThat(line.share(0.5, seconds(10)).text(seconds(20))).isEqualTo("placing data… 20 s");
    assertThat(line.share(0.5, seconds(10)).share(1, seconds(15)).text(seconds(15)))
        .isEqualTo("placing data… 15 s");
    assertThat(line.share(0.5, seconds(10)).share(0, seconds(12)).text(seconds(13)))
        .isEqualTo("placing data… 13 s");
  }
}
