package io.partita.cli;

import io.partita.driver.DriverCode;
import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import io.partita.zoo.Mode;
import io.partita.zoo.Zoo;
import io.partita.zoo.ZooException;
import io.partita.zoo.ZooFile;
import io.partita.zoo.ZooModel;
import io.partita.zoo.ZooOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code partita zoo}: lists the models that need no download, or generates one. */
@Command(
    name = "zoo",
    description = "List the models that need no download, or write one as ONNX.",
    footer = {
      "",
      "Without NAME, lists the models. Weights of more than 1.5 GB go into a second file beside it,"
          + " of the same name and .data. The same options and file name give the same bytes."
    })
final class ZooCommand implements Runnable {
  /** Parses {@code --mode}; the paper's word for decode is accepted too. */
  enum ModeName {
    prompt(Mode.PROMPT),
    decode(Mode.DECODE),
    autoregressive(Mode.DECODE);

    private final Mode mode;

    ModeName(Mode mode) {
      this.mode = mode;
    }

    Mode mode() {
      return mode;
    }
  }

  @Parameters(index = "0", arity = "0..1", paramLabel = "NAME", description = "The model to write.")
  private String name;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FILE",
      description = "The ONNX file to write.")
  private Path output;

  @Option(names = "--seed", paramLabel = "N", description = "Seed of the weights; by default 0.")
  private long seed;

  @Option(names = "--layers", paramLabel = "N", description = "Override the number of layers.")
  private Integer layers;

  @Option(
      names = "--mode",
      paramLabel = "MODE",
      description = "Language models: prompt (default) or decode, with a KV cache.")
  private ModeName mode = ModeName.prompt;

  @Option(
      names = "--seq",
      paramLabel = "N",
      description = "Tokens of the prompt; in decode mode, the cached tokens and the new one.")
  private Integer sequence;

  @Option(
      names = {"--past", "--kv"},
      paramLabel = "N",
      description = "Decode mode: tokens in the KV cache before the new one (--seq less one).")
  private Integer past;

  @Option(
      names = "--dynamic",
      description =
          "Leave the sequence length open: the symbol seq; or past in decode mode, where that is the"
              + " default without --seq and --past.")
  private boolean dynamic;

  @Option(names = "--external", description = "Always put the weights into a second file.")
  private boolean external;

  @Option(names = "--force", description = "Replace the output if it exists.")
  private boolean force;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Spec private CommandSpec spec;

  @Override
  public void run() {
    if (name == null) {
      list(spec.commandLine().getOut());
      return;
    }
    if (output == null) {
      throw new CommandLine.ParameterException(
          spec.commandLine(), "missing: -o FILE, the file that " + name + " goes to");
    }
    write();
  }

  private void list(PrintWriter out) {
    List<ZooModel> models = Zoo.models();
    if (json) {
      out.println(Json.text(models.stream().map(ZooCommand::row).toList()));
      return;
    }
    int width = Zoo.names().stream().mapToInt(String::length).max().orElse(0);
    for (ZooModel model : models) {
      out.printf(
          Locale.ROOT,
          "%-" + width + "s  %8s  %s%n",
          model.name(),
          rounded(model.parameters()),
          model.description());
    }
  }

  private static Map<String, Object> row(ZooModel model) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("name", model.name());
    row.put("description", model.description());
    row.put("parameters", model.parameters());
    row.put("layers", model.layers());
    row.put("modes", model.decodes() ? List.of("prompt", "decode") : List.of("prompt"));
    row.put("promptTokens", model.promptLength());
    if (model.decodes()) {
      row.put("decodeTokens", model.decodeLength());
    }
    return row;
  }

  private void write() {
    Path data = output.resolveSibling(output.getFileName() + ".data");
    if (Files.isDirectory(output)) {
      throw failure("a file name", "a folder", "name a file in it");
    }
    if (Files.exists(output) && !Files.isRegularFile(output)) {
      throw failure("a regular file", "a pipe or a device", "name another file");
    }
    for (Path file : List.of(output, data)) {
      if (!force && Files.exists(file)) {
        throw new PartitaException(
            DriverCode.OUTPUT_EXISTS,
            file.toString(),
            "a new file",
            "an existing file",
            "--force replaces it");
      }
    }
    PrintWriter err = spec.commandLine().getErr();
    try (Progress _ = Progress.start(err, "writing " + output)) {
      ZooOptions options = options();
      Files.createDirectories(output.toAbsolutePath().getParent());
      report(Zoo.write(name, options, output));
    } catch (ZooException e) {
      throw new PartitaException(
          ZooDiagnostic.NOT_IN_THE_ZOO,
          e.subject(),
          e.expected(),
          e.found(),
          NearestName.of(e.found(), Zoo.names())
              .map(NearestName::suggestion)
              .orElse("partita zoo lists the models, partita zoo --help the options"));
    } catch (IOException e) {
      throw failure(
          "a writable folder, and enough space",
          FileFailure.words(output, e),
          "choose another folder");
    }
  }

  private PartitaException failure(String expected, String found, String remedy) {
    return new PartitaException(DriverCode.FILE, output.toString(), expected, found, remedy);
  }

  private ZooOptions options() {
    if (past != null && (sequence != null || mode.mode != Mode.DECODE || past < 0)) {
      throw new ZooException(
          "--past", "0 or more, in decode mode, without --seq", Integer.toString(past));
    }
    OptionalInt tokens =
        past != null
            ? OptionalInt.of(Math.addExact(Math.min(past, Integer.MAX_VALUE - 1), 1))
            : sequence == null ? OptionalInt.empty() : OptionalInt.of(sequence);
    OptionalInt depth = layers == null ? OptionalInt.empty() : OptionalInt.of(layers);
    boolean open = dynamic || mode.mode == Mode.DECODE && tokens.isEmpty();
    return new ZooOptions(seed, depth, mode.mode, tokens, open, external);
  }

  private void report(ZooFile file) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      Map<String, Object> written = new LinkedHashMap<>();
      written.put("model", file.model().toString());
      file.data().ifPresent(data -> written.put("data", data.toString()));
      written.put("parameters", file.parameters());
      written.put("modelBytes", file.modelBytes());
      written.put("dataBytes", file.dataBytes());
      written.put("bytesOnDisk", file.bytesOnDisk());
      out.println(Json.text(written));
      return;
    }
    out.printf(
        Locale.ROOT,
        "%s: %s parameters, %s%s%n",
        file.model(),
        rounded(file.parameters()),
        bytes(file.modelBytes()),
        file.data()
            .map(
                path ->
                    String.format(
                        Locale.ROOT,
                        ", and %s: %s (%s on disk)",
                        path,
                        bytes(file.dataBytes()),
                        bytes(file.bytesOnDisk() - file.modelBytes())))
            .orElse(""));
  }

  private static String rounded(long parameters) {
    return parameters >= 1_000_000_000
        ? String.format(Locale.ROOT, "%.2f B", parameters / 1e9)
        : String.format(Locale.ROOT, "%.2f M", parameters / 1e6);
  }

  private static String bytes(long count) {
    return count >= 1_000_000_000
        ? String.format(Locale.ROOT, "%.2f GB", count / 1e9)
        : String.format(Locale.ROOT, "%.2f MB", count / 1e6);
  }
}
