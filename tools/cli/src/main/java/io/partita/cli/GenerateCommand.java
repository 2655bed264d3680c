package io.partita.cli;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.backend.metalium.KernelProgram;
import io.partita.backend.metalium.MetaliumDescription;
import io.partita.driver.DriverCode;
import io.partita.driver.cases.NamedArrays;
import io.partita.driver.text.ChipModel;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.Generation;
import io.partita.driver.text.JavaModel;
import io.partita.driver.text.KernelModel;
import io.partita.driver.text.LanguageModel;
import io.partita.driver.text.Tokens;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Continues a text with a language model. */
@Command(
    name = "generate",
    description =
        "Continue a text with a compiled language model, by default with the likeliest token each"
            + " time.")
final class GenerateCommand implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", description = "A folder that 'partita compile' wrote.")
  Path folder;

  @ArgGroup(exclusive = true, multiplicity = "1")
  PromptOptions beginning;

  @ArgGroup(exclusive = true, multiplicity = "1")
  TokenOptions vocabulary;

  @Option(
      names = "--tokens",
      paramLabel = "N",
      description = "Tokens to add; by default ${DEFAULT-VALUE}.")
  int count = 120;

  @Option(
      names = "--inputs",
      paramLabel = "FILE",
      description =
          "The inputs other than tokens and positions (.npz), such as an encoder's keys and"
              + " values. May be given several times.")
  List<Path> inputs = List.of();

  @Mixin SamplingOptions sampling = new SamplingOptions();

  @Mixin ChipPortOptions ports = new ChipPortOptions();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "Stop a program for chips that takes longer for one token; by default"
              + " ${DEFAULT-VALUE}.")
  int timeout = 600;

  @Mixin HostingOptions options = new HostingOptions();

  @Mixin FolderOptions opening = new FolderOptions();

  @Option(names = "--json", description = "Print text, token ids and speed as JSON.")
  boolean json;

  @Spec CommandSpec spec;

  @Override
  public Integer call() {
    if (count < 0) {
      throw new ParameterException(
          spec.commandLine(), "--tokens takes a number of 0 or more, not " + count);
    }
    sampling.verify(spec);
    try (Tokens tokens = vocabulary.tokens()) {
      String prompt = beginning.prompt();
      List<Integer> sequence = beginning.encode(tokens, prompt);
      try (CompiledModel program = open();
          LanguageModel model = new LanguageModel(program, folder, given(program))) {
        verify(model, tokens, sequence);
        generate(model, tokens, prompt, sequence);
      }
    }
    return ExitCode.DONE;
  }

  private void generate(LanguageModel model, Tokens tokens, String prompt, List<Integer> prompted) {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    // Before anything is printed, since a stop may be wrong.
    Set<Integer> stops = sampling.stops(tokens);
    print(out, prompt);
    Generation generated =
        Generation.of(
            model, tokens, prompted, count, sampling.sampler(), stops, piece -> print(out, piece));
    if (!json) {
      out.println();
    }
    if (generated.end() == Generation.End.CACHE) {
      err.println(full(model, prompted.size(), prompted.size() + count));
    }
    int read = prompted.size() + generated.added() - 1;
    if (!model.isDecoder() && read > model.context()) {
      err.println(window(model, read));
    }
    if (json) {
      out.println(Json.text(report(model, prompt, prompted.size(), generated)));
    } else {
      err.println(summary(generated));
      if (model.chunkTokens() > 1) {
        err.printf("prompt: %d tokens, %d at once%n", prompted.size(), model.chunkTokens());
      }
    }
  }

  private String summary(Generation generated) {
    int added = generated.added();
    double speed = added / generated.seconds();
    String text =
        added == 0
            ? "no token"
            : String.format(
                speed < 10
                    ? "%d %s, %.2f a second, the first after %.2f s"
                    : "%d %s, %.0f a second, the first after %.2f s",
                added,
                added == 1 ? "token" : "tokens",
                speed,
                generated.firstSeconds());
    return text
        + (sampling.seed().isPresent() ? "; seed " + sampling.seed().getAsLong() : "")
        + (generated.end() == Generation.End.STOP ? "; ended by the model" : "");
  }

  private Map<String, Object> report(
      LanguageModel model, String prompt, int prompted, Generation generated) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put("text", prompt + generated.text());
    report.put("tokens", generated.tokens());
    report.put("promptTokens", prompted);
    if (model.chunkTokens() > 1) {
      report.put("promptChunk", model.chunkTokens());
    }
    report.put("added", generated.added());
    report.put("end", generated.end().name().toLowerCase(Locale.ROOT));
    sampling.seed().ifPresent(seed -> report.put("seed", seed));
    report.put("firstTokenSeconds", generated.firstSeconds());
    report.put("tokensPerSecond", generated.added() / generated.seconds());
    return report;
  }

  /** Checks that the prompt and its tokens fit the program. */
  private void verify(LanguageModel model, Tokens tokens, List<Integer> prompted) {
    if (!tokens.fits(model.vocabulary())) {
      throw new PartitaException(
          DriverCode.BAD_VOCABULARY,
          tokens.file().toString(),
          model.vocabulary() + " tokens, as many as the program gives logits for",
          tokens.size() + " tokens",
          tokens.size() < model.vocabulary()
              ? "give the model's own vocabulary; a list may end with empty texts (\"\") for logits"
                  + " that stand for no token"
              : "give the model's own vocabulary");
    }
    if (model.isDecoder() && prompted.size() > model.context()) {
      throw new PartitaException(
          DriverCode.PROMPT_TOO_LONG,
          beginning.option(),
          "at most " + model.context() + " tokens, for which the KV cache has positions",
          Integer.toString(prompted.size()),
          enlarge(model, prompted.size() + count, prompted.size())
              .map(option -> "compile the model with " + option + ", or give a shorter prompt")
              .orElseGet(
                  () ->
                      "give a prompt of at most "
                          + model.positions().orElseThrow()
                          + " tokens: the model has no more positions"));
    }
  }

  private Map<String, Tensor> given(CompiledModel program) {
    NamedArrays arrays = NamedArrays.read(inputs);
    arrays.verifyNoState(
        program.description().states().stream().map(ProgramInterface.StatePort::input).toList());
    return arrays.matching(
        program.description().inputs().stream()
            .map(port -> new NamedArrays.Wanted(port.name(), port.type()))
            .toList());
  }

  private CompiledModel open() {
    opening.verify(folder, spec);
    if (ChipDescription.isIn(folder)) {
      Port port = ports.port(spec);
      try (Progress progress = Progress.start(spec.commandLine().getErr(), "building")) {
        Build.run(folder, port, List.of());
        progress.step("starting");
        return new ChipModel(
            folder, port, ports.options(opening.allowChanges), Duration.ofSeconds(timeout));
      }
    }
    if (MetaliumDescription.isIn(folder)) {
      KernelProgram.Place place = ports.kernelPlace(folder, spec);
      try (Progress progress = Progress.start(spec.commandLine().getErr(), "opening")) {
        progress.step("building");
        return new KernelModel(
            place.open(folder, MetaliumDescription.read(folder).whole()),
            Duration.ofSeconds(timeout));
      }
    }
    ports.requireNone(spec);
    return new JavaModel(folder, options.hosting(folder, spec));
  }

  private void print(PrintWriter out, String text) {
    if (!json) {
      out.print(text);
      out.flush();
    }
  }

  /**
   * The option for a sufficient capacity, limited to the model's positions.
   *
   * @param least the smallest useful number of tokens
   */
  private static Optional<String> enlarge(LanguageModel model, int wanted, int least) {
    long most = Math.min(wanted, model.positions().orElse(wanted));
    return most < least ? Optional.empty() : Optional.of("--kv-capacity " + most);
  }

  /** Says that a program without cache has not read the beginning of the text. */
  private static Diagnostic window(LanguageModel model, int read) {
    return new Diagnostic(
        DriverCode.WINDOW,
        "the program's input of " + model.context() + " tokens",
        "",
        read + " tokens before the last one",
        "compile the model with more tokens, or compile a decoder with a KV cache");
  }

  private static Diagnostic full(LanguageModel model, int prompted, int wanted) {
    int capacity = model.context();
    return new Diagnostic(
        DriverCode.CACHE_FULL,
        "the program's KV cache",
        "",
        "all of its " + capacity + " positions are used",
        enlarge(model, wanted, capacity + 1)
            .map(option -> "compile the model with " + option + ", or ask for fewer tokens")
            .orElseGet(
                () ->
                    "ask for --tokens " + (capacity - prompted + 1) + ", as the model ends there"));
  }
}
