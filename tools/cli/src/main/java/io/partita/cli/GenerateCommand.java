package io.partita.cli;

import io.partita.backend.emitted.ChipDescription;
import io.partita.backend.emitted.ProgramInterface;
import io.partita.backend.emitted.run.Build;
import io.partita.backend.emitted.run.Port;
import io.partita.driver.DriverCode;
import io.partita.driver.cases.NamedArrays;
import io.partita.driver.text.ChipModel;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import io.partita.driver.text.LanguageModel;
import io.partita.driver.text.Vocabulary;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.tensor.Tensor;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
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
        "Continue a text with a compiled language model, choosing the likeliest token each time.")
final class GenerateCommand implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", description = "A folder that 'partita compile' wrote.")
  Path folder;

  @Option(names = "--prompt", required = true, paramLabel = "TEXT", description = "The beginning.")
  String prompt;

  @Option(
      names = "--vocab",
      required = true,
      paramLabel = "FILE",
      description = "The tokens (JSON): {\"chars\": \"abc\"}, a list, or tokens and their ids.")
  Path vocabulary;

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

  @Mixin ChipPortOptions ports = new ChipPortOptions();

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description =
          "Stop a C program that takes longer for one token; by default ${DEFAULT-VALUE}.")
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
    Vocabulary tokens = Vocabulary.read(vocabulary);
    List<Integer> sequence = new ArrayList<>(tokens.encode(prompt));
    if (sequence.isEmpty()) {
      throw new PartitaException(
          DriverCode.BAD_VOCABULARY, "--prompt", "at least one token", "an empty text", "give one");
    }
    PrintWriter out = spec.commandLine().getOut();
    int first = sequence.size();
    long start;
    long prompted = 0;
    int chunk;
    Optional<Diagnostic> note = Optional.empty();
    try (CompiledModel program = open();
        LanguageModel model = new LanguageModel(program, folder, given(program))) {
      verify(model, tokens, sequence);
      chunk = model.chunkTokens();
      print(out, prompt);
      start = System.nanoTime();
      for (int i = 0; i < count; i++) {
        if (model.isDecoder() && sequence.size() > model.context()) {
          note = Optional.of(full(model, first, first + count));
          break;
        }
        int next = LanguageModel.argMax(model.next(sequence));
        prompted = i == 0 ? System.nanoTime() : prompted;
        sequence.add(next);
        print(out, tokens.text(next));
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    double promptSeconds = Math.max(0, prompted - start) / 1e9;
    int added = sequence.size() - first;
    if (json) {
      note.ifPresent(spec.commandLine().getErr()::println);
      Map<String, Object> report = new LinkedHashMap<>();
      StringBuilder text = new StringBuilder();
      sequence.forEach(id -> text.append(tokens.text(id)));
      report.put("text", text.toString());
      report.put("tokens", sequence);
      report.put("added", added);
      report.put("tokensPerSecond", added / seconds);
      if (chunk > 1) {
        report.put("promptTokens", first);
        report.put("promptChunk", chunk);
        report.put("promptSeconds", promptSeconds);
      }
      out.println(Json.text(report));
    } else {
      out.println();
      note.ifPresent(spec.commandLine().getErr()::println);
      double speed = added / seconds;
      String format = speed < 10 ? "%d tokens, %.2f a second%n" : "%d tokens, %.0f a second%n";
      spec.commandLine().getErr().printf(format, added, speed);
      if (chunk > 1) {
        spec.commandLine()
            .getErr()
            .printf("prompt: %d tokens, %d at once, in %.2f s%n", first, chunk, promptSeconds);
      }
    }
    return ExitCode.DONE;
  }

  /** Encodes the prompt, which must fit the program and its vocabulary. */
  private void verify(LanguageModel model, Vocabulary tokens, List<Integer> prompted) {
    if (tokens.size() != model.vocabulary()) {
      throw new PartitaException(
          DriverCode.BAD_VOCABULARY,
          vocabulary.toString(),
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
          "--prompt",
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
