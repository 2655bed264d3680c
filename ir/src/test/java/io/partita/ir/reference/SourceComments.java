package io.partita.ir.reference;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The Javadoc of types and constants in a source file, as Markdown. */
public final class SourceComments {
  private static final Pattern TYPE =
      Pattern.compile(
          "(?s)(?:/\\*\\*((?:(?!\\*/).)*)\\*/\\s*)?(?:@\\w+(?:\\([^)]*\\))?\\s*)*"
              + "(?:(?:public|private|static|final|sealed|non-sealed|abstract) )*"
              + "(?:record|class|interface|enum) (\\w+)");
  private static final Pattern CONSTANT =
      Pattern.compile("(?s)(?:/\\*\\*((?:(?!\\*/).)*)\\*/\\s*)?\\b([A-Z][A-Z0-9_]+)\\(");
  private static final Pattern TAGS = Pattern.compile("(?s)\\n\\s*@(param|throws|see|return).*");

  private SourceComments() {}

  /** Returns the comments of types by simple name, in the order of the file; "" for none. */
  public static Map<String, String> ofTypes(Path file) throws IOException {
    return found(TYPE, file);
  }

  /** Returns the comments of the constants of an enum. */
  public static Map<String, String> ofConstants(Path file) throws IOException {
    return found(CONSTANT, file);
  }

  private static Map<String, String> found(Pattern pattern, Path file) throws IOException {
    Map<String, String> comments = new LinkedHashMap<>();
    Matcher matcher = pattern.matcher(Files.readString(file));
    while (matcher.find()) {
      String comment = matcher.group(1) == null ? "" : markdown(matcher.group(1));
      comments.putIfAbsent(matcher.group(2), comment);
    }
    return comments;
  }

  private static String markdown(String comment) {
    String text = TAGS.matcher(comment.replaceAll("(?m)^\\s*\\* ?", "")).replaceAll("");
    return text.replaceAll("(?s)\\{@code\\s+([^{}]*(?:\\{[^{}]*\\}[^{}]*)*)\\}", "`$1`")
        .replaceAll("\\{@link(?:plain)?\\s+[^}\\s]*[.#](\\w+)[^}]*\\}", "`$1`")
        .replaceAll("\\{@link(?:plain)?\\s+(\\w+)[^}]*\\}", "`$1`")
        .replaceAll("</?(p|ul|li|i|b|pre|sup|sub)>", "")
        .replaceAll("\\s+", " ")
        .replace("|", "\\|")
        .strip();
  }

  /** Returns the first sentence of a text. */
  public static String firstSentence(String text) {
    return text.replaceAll("(?s)(\\.)\\s+(?=[A-Z`]).*", "$1");
  }
}
