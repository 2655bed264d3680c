package io.partita.cli;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;

/** An invocation of a command as in a shell. */
record Invocation(int exitCode, String out, String err) {
  /** The repository; tests run in the folder of their module. */
  static final Path ROOT = Path.of("..", "..");

  static final Path SHAKESPEARE = ROOT.resolve("tests/models/tiny-shakespeare");
  static final Path DECODER = SHAKESPEARE.resolve("decode/network.onnx");

  /** Runs the command; arguments become text. */
  static Invocation of(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] words = new String[arguments.length];
    for (int i = 0; i < words.length; i++) {
      words[i] = arguments[i].toString();
    }
    int exitCode =
        Main.commandLine(new PrintWriter(out, true), new PrintWriter(err, true)).execute(words);
    return new Invocation(exitCode, out.toString(), err.toString());
  }

  /** The standard output as a JSON object. */
  Map<String, Object> json() {
    try {
      return JSON.std.mapFrom(out);
    } catch (IOException e) {
      throw new UncheckedIOException(out + err, e);
    }
  }
}
