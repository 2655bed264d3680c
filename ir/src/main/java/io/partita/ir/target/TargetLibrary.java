package io.partita.ir.target;

import io.partita.ir.diagnostic.NearestName;
import io.partita.ir.diagnostic.PartitaException;
import io.partita.ir.file.FileFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Finds target descriptions: built-in ones by name, others by path. */
public final class TargetLibrary {
  /** The names of the built-in targets. */
  public static final List<String> NAMES =
      List.of("h100", "n150", "n300", "siracusa", "wifi-laptops");

  private static final String SUFFIX = ".target";

  private TargetLibrary() {}

  /**
   * Returns the target of a reference such as {@code siracusa}, {@code siracusa:chips=8}, {@code
   * wifi-laptops:laptops=4,bandwidth=20Mbps} or {@code boards/mine.target:chips=2}. The part after
   * the last colon is a list of arguments if it contains an equals sign.
   *
   * @throws PartitaException with {@link TargetCode}s
   */
  public static TargetDescription find(String reference) {
    int colon = reference.lastIndexOf(':');
    boolean hasArguments = colon >= 0 && reference.indexOf('=', colon) >= 0;
    String name = hasArguments ? reference.substring(0, colon) : reference;
    TargetDescription target = NAMES.contains(name) ? builtIn(name) : file(name);
    return hasArguments ? target.with(arguments(reference.substring(colon + 1))) : target;
  }

  private static TargetDescription builtIn(String name) {
    try (InputStream stream =
        TargetLibrary.class.getResourceAsStream("/targets/" + name + SUFFIX)) {
      if (stream == null) {
        throw new IllegalStateException("the target " + name + " is not packaged");
      }
      String text = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
      return TargetParser.parse(text, name + SUFFIX);
    } catch (IOException e) {
      throw new IllegalStateException("the target " + name + " can't be read", e);
    }
  }

  private static TargetDescription file(String name) {
    if (!name.endsWith(SUFFIX)) {
      throw new PartitaException(
          TargetCode.UNKNOWN_TARGET,
          "target " + name,
          "one of " + String.join(", ", NAMES) + ", or the path of a .target file",
          name,
          NearestName.remedy(name, NAMES));
    }
    try {
      return TargetParser.parse(Files.readString(Path.of(name)), name);
    } catch (IOException e) {
      throw unreadable(name, FileFailure.words(Path.of(name), e));
    } catch (InvalidPathException e) {
      throw unreadable(name, "no path: " + e.getReason());
    }
  }

  private static PartitaException unreadable(String name, String reason) {
    return new PartitaException(
        TargetCode.FILE, name, "a readable file in UTF-8", reason, "correct the path");
  }

  private static Map<String, Quantity> arguments(String text) {
    Map<String, Quantity> arguments = new LinkedHashMap<>();
    for (String argument : text.split(",", -1)) {
      String[] parts = argument.split("=", 2);
      Quantity quantity = parts.length == 2 ? Quantity.parse(parts[1]).orElse(null) : null;
      if (quantity == null || arguments.put(parts[0].strip(), quantity) != null) {
        throw new PartitaException(
            TargetCode.ARGUMENT,
            "option --target",
            "NAME=QUANTITY, each once, such as chips=8 or bandwidth=20Mbps",
            argument,
            "correct the argument");
      }
    }
    return arguments;
  }
}
