package io.partita.passes;

import io.partita.ir.diagnostic.PartitaException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalLong;

/**
 * A pass in the text of a pipeline.
 *
 * @param name the name of the pass
 * @param arguments the arguments by name; one without a name has the empty name
 */
public record PassCall(String name, Map<String, String> arguments) {
  /**
   * @throws PartitaException if it is malformed
   */
  public static PassCall parse(String text) {
    int open = text.indexOf('(');
    if (open >= 0 && !text.endsWith(")")) {
      throw Pipeline.syntax(text, "nothing after ')'", text.substring(text.indexOf(')') + 1));
    }
    String name = (open < 0 ? text : text.substring(0, open)).strip();
    if (name.isEmpty()) {
      throw Pipeline.syntax(text, "the name of a pass", "none");
    }
    Map<String, String> arguments = new LinkedHashMap<>();
    if (open >= 0 && !text.substring(open + 1, text.length() - 1).isBlank()) {
      for (String argument : text.substring(open + 1, text.length() - 1).split(",", -1)) {
        int equals = argument.indexOf('=');
        String key = equals < 0 ? "" : argument.substring(0, equals).strip();
        String value = argument.substring(equals + 1).strip();
        if (value.isEmpty() || arguments.putIfAbsent(key, value) != null) {
          throw Pipeline.syntax(text, "each argument once, with a value", argument.strip());
        }
      }
    }
    return new PassCall(name, arguments);
  }

  /** Returns a whole number that is given as {@code name=value}. */
  public OptionalLong integer(String option) {
    String value = arguments.get(option);
    if (value == null) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(value));
    } catch (NumberFormatException notANumber) {
      throw wrong(option, "a whole number", value);
    }
  }

  /** Checks that there are no other options. */
  public void requireOptions(String... known) {
    for (String option : arguments.keySet()) {
      if (!java.util.List.of(known).contains(option)) {
        throw wrong(
            option,
            known.length == 0 ? "no options" : "options " + String.join(", ", known),
            option.isEmpty() ? arguments.get(option) : option);
      }
    }
  }

  public PartitaException wrong(String option, String expected, String found) {
    return new PartitaException(
        PassCode.PASS_OPTION,
        "pass " + name + (option.isEmpty() ? "" : ", option " + option),
        expected,
        found,
        "partita opt --list-passes lists the options of passes");
  }
}
