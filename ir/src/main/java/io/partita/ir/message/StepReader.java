package io.partita.ir.message;

import io.partita.ir.function.Combine;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses the texts of {@link Slice#text} and {@link Step#text}. */
public final class StepReader {
  private static final Pattern SLICE = Pattern.compile("([0-9]{1,18})\\+([0-9]{1,18})");
  private static final Pattern SEND =
      Pattern.compile("send ([0-9]{1,9}) \\(([0-9]{1,18}) B\\): (.*)");
  private static final Pattern RECEIVE =
      Pattern.compile("receive ([0-9]{1,9}) \\(([0-9]{1,18}) B\\) ([a-z]+): (.*)");

  private StepReader() {}

  /**
   * Parses {@code 0+64 128+64}.
   *
   * @throws IllegalArgumentException with the expected form
   */
  public static List<Slice> slices(String text) {
    List<Slice> slices = new ArrayList<>();
    for (String part : parts(text, " ")) {
      Matcher slice = SLICE.matcher(part);
      if (!slice.matches()) {
        throw new IllegalArgumentException("slices such as 0+64 128+64");
      }
      slices.add(new Slice(number(slice, 1), number(slice, 2)));
    }
    return slices;
  }

  /**
   * Parses {@code send 3 (256 B): 0+64; receive 3 (256 B) add: 0+64}.
   *
   * @throws IllegalArgumentException with the expected form
   */
  public static List<Step> steps(String text) {
    List<Step> steps = new ArrayList<>();
    for (String part : parts(text, "; ")) {
      steps.add(step(part));
    }
    return steps;
  }

  private static Step step(String text) {
    Matcher send = SEND.matcher(text);
    Matcher receive = RECEIVE.matcher(text);
    if (send.matches()) {
      return new Step.Send((int) number(send, 1), slices(send.group(3)), number(send, 2));
    } else if (receive.matches()) {
      Combine combine = combine(receive.group(3));
      List<Slice> slices = slices(receive.group(4));
      return new Step.Receive((int) number(receive, 1), slices, number(receive, 2), combine);
    }
    throw new IllegalArgumentException(
        "steps such as send 3 (256 B): 0+64; receive 3 (256 B) add: 0+64");
  }

  private static Combine combine(String text) {
    List<String> known = new ArrayList<>();
    for (Combine combine : Combine.values()) {
      known.add(combine.text());
      if (known.getLast().equals(text)) {
        return combine;
      }
    }
    throw new IllegalArgumentException("one of " + String.join(", ", known));
  }

  private static long number(Matcher matcher, int group) {
    return Long.parseLong(matcher.group(group));
  }

  private static String[] parts(String text, String separator) {
    return text.isEmpty() ? new String[0] : text.split(separator, -1);
  }
}
