package io.partita.cli;

import io.partita.backend.siracusa.ModelDescription;
import io.partita.driver.DriverCode;
import io.partita.driver.text.ChipModel;
import io.partita.driver.text.CompiledModel;
import io.partita.driver.text.JavaModel;
import io.partita.driver.text.LanguageModel;
import io.partita.driver.text.Vocabulary;
import io.partita.ir.diagnostic.Diagnostic;
import io.partita.ir.diagnostic.PartitaException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Continues a text. */
@Command(
    name = "generate",
    description = "Continue a text with a compiled language model: the likeliest token each time.")
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

  @Mixin HostingOptions options = new HostingOptions();

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
    try (CompiledModel program = open();
        LanguageModel model = new LanguageModel(program, folder)) {
      print(out, prompt);
      start = System.nanoTime();
      for (int i = 0; i < count; i++) {
        if (model.isDecoder() && sequence.size() > model.context()) {
          spec.commandLine().getErr().println(full(model.context()));
          break;
        }
        int next = LanguageModel.argMax(model.next(sequence));
        sequence.add(next);
        print(out, tokens.text(next));
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    int added = sequence.size() - first;
    if (json) {
      Map<String, Object> report = new LinkedHashMap<>();
      StringBuilder text = new StringBuilder();
      sequence.forEach(id -> text.append(tokens.text(id)));
      report.put("text", text.toString());
      report.put("tokens", sequence);
      report.put("added", added);
      report.put("tokensPerSecond", added / seconds);
      out.println(Json.text(report));
    } else {
      out.println();
      spec.commandLine().getErr().printf("%d tokens, %.0f a second%n", added, added / seconds);
    }
    return ExitCode.DONE;
  }

  private CompiledModel open() {
    return ModelDescription.isIn(folder)
        ? new ChipModel(folder)
        : new JavaModel(folder, options.hosting(folder, spec));
  }

  private void print(PrintWriter out, String text) {
    if (!json) {
      out.print(text);
      out.flush();
    }
  }

  private static Diagnostic full(int capacity) {
    return new Diagnostic(
        DriverCode.CACHE_FULL,
        "the program's KV cache",
        "",
        "all of its " + capacity + " positions are used",
        "compile the model with a larger capacity (--dim), or ask for fewer --tokens");
  }
}
