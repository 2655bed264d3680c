package io.partita.ir.text;

import io.partita.ir.diagnostic.PartitaException;
import java.util.List;
import java.util.function.Function;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.DefaultErrorStrategy;
import org.antlr.v4.runtime.InputMismatchException;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;

/** Stops at the first syntax error with a diagnostic; nothing is guessed. */
final class SyntaxErrors extends DefaultErrorStrategy {
  private final Locator locator;
  private final Function<List<Integer>, List<String>> names;

  /** Of modules. */
  SyntaxErrors(Locator locator) {
    this(locator, types -> types.stream().map(SyntaxErrors::describe).toList());
  }

  /**
   * @param names what messages call types of tokens that may stand at one place
   */
  SyntaxErrors(Locator locator, Function<List<Integer>, List<String>> names) {
    this.locator = locator;
    this.names = names;
  }

  @Override
  public void reportError(Parser parser, RecognitionException error) {
    List<String> expected = names.apply(error.getExpectedTokens().toList());
    throw locator.error(
        TextCode.SYNTAX,
        error.getOffendingToken(),
        String.join(", ", expected.stream().distinct().sorted().toList()),
        "");
  }

  private static String describe(int type) {
    return switch (type) {
      case Token.EOF -> "the end of the text";
      case PirSyntaxParser.VALUE -> "a value such as %0";
      case PirSyntaxParser.GLOBAL -> "a graph's name such as @main";
      case PirSyntaxParser.NAN_BITS -> "a NaN";
      case PirSyntaxParser.WORD -> "a word";
      case PirSyntaxParser.INTEGER, PirSyntaxParser.DECIMAL -> "a number";
      case PirSyntaxParser.STRING -> "a string";
      default -> PirSyntaxParser.VOCABULARY.getDisplayName(type);
    };
  }

  @Override
  public Token recoverInline(Parser parser) {
    reportError(parser, new InputMismatchException(parser));
    throw new AssertionError("reporting throws");
  }

  @Override
  public void sync(Parser parser) {}

  /** For the lexer: a character that begins no token. */
  static final class Characters extends BaseErrorListener {
    private final Locator locator;

    Characters(Locator locator) {
      this.locator = locator;
    }

    @Override
    public void syntaxError(
        Recognizer<?, ?> lexer,
        Object symbol,
        int line,
        int column,
        String message,
        RecognitionException error) {
      String found = message.replaceFirst("^token recognition error at: ", "");
      throw new PartitaException(
          TextCode.SYNTAX,
          locator.place(line, column),
          "a name, a number, a string in quotes, or punctuation",
          found,
          found.startsWith("'\"") ? "close the string on the line where it begins" : "");
    }
  }
}
