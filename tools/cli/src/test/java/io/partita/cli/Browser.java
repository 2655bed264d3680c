package io.partita.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.partita.backend.emitted.run.Build;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Opens pages in headless Chromium. */
final class Browser {
  private static final int TIMEOUT_SECONDS = 90;
  private static final int SETTLED_MILLISECONDS = 4000;
  private static final AtomicBoolean REPORTED = new AtomicBoolean();

  private final Path program;
  private final Path scratch;

  private Browser(Path program, Path scratch) {
    this.program = program;
    this.scratch = scratch;
  }

  /** Skips the test with one line if there is no browser. */
  static Browser start(Path scratch) {
    Optional<Path> found =
        Stream.of("chromium", "chromium-browser", "google-chrome")
            .flatMap(name -> Build.find(name).stream())
            .findFirst();
    if (found.isEmpty() && REPORTED.compareAndSet(false, true)) {
      System.err.println("NO CHROMIUM: reports are NOT TESTED in a browser; install 'chromium'");
    }
    assumeTrue(found.isPresent());
    return new Browser(found.get(), scratch);
  }

  /**
   * Returns the document after its scripts have run.
   *
   * @param fragment the part of the address after the path, such as {@code #theme=dark}
   */
  String document(Path page, String fragment) throws IOException, InterruptedException {
    return run(page, fragment, List.of("--dump-dom"));
  }

  /**
   * Runs a script on a page as a user would act, and returns the text that it leaves in {@code
   * result}.
   */
  String act(Path page, String script) throws IOException, InterruptedException {
    String acting =
        "<script>{let result = '';\n"
            + script
            + "\ndocument.documentElement.dataset.result = result;}</script>";
    Path copy = scratch.resolve("acting.html");
    String html = Files.readString(page);
    int end = html.lastIndexOf("</body>");
    Files.writeString(copy, html.substring(0, end) + acting + html.substring(end));
    Matcher result = Pattern.compile("data-result=\"([^\"]*)\"").matcher(document(copy, ""));
    assertThat(result.find()).as("the script's result").isTrue();
    return result.group(1);
  }

  /** Writes a PNG of the page. */
  void screenshot(Path page, String fragment, int width, int height, Path png)
      throws IOException, InterruptedException {
    run(
        page,
        fragment,
        List.of(
            "--hide-scrollbars", "--window-size=" + width + "," + height, "--screenshot=" + png));
    assertThat(png).exists();
  }

  /** Fails if the console has messages. */
  private String run(Path page, String fragment, List<String> options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of(program.toString(), "--headless"));
    command.addAll(List.of("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"));
    command.addAll(List.of("--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND"));
    command.add("--user-data-dir=" + scratch.resolve("browser"));
    command.addAll(List.of("--enable-logging=stderr", "--timeout=" + SETTLED_MILLISECONDS));
    command.addAll(options);
    command.add(page.toUri() + fragment);
    Path out = scratch.resolve("browser.out");
    Path err = scratch.resolve("browser.err");
    Process running =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertThat(running.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)).as("ends").isTrue();
    } finally {
      running.destroyForcibly();
    }
    List<String> console =
        Files.readString(err, StandardCharsets.UTF_8)
            .lines()
            .filter(line -> line.contains(":CONSOLE"))
            .toList();
    assertThat(console).isEmpty();
    return Files.readString(out, StandardCharsets.UTF_8);
  }

  /** Returns the exact value of a figure in a document. */
  static double figure(String document, String key) {
    Matcher matcher =
        Pattern.compile("data-value=\"([^\"]*)\" data-key=\"" + Pattern.quote(key) + "\"")
            .matcher(document);
    assertThat(matcher.find()).as("a figure " + key).isTrue();
    return Double.parseDouble(matcher.group(1));
  }
}
