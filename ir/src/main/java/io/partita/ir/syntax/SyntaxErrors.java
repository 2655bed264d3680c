package io.partita.ir.syntax;

import io.partita.ir.diagnostic.DiagnosticCode;
import io.partita.ir.diagnostic.PartitaException;
import java.util.List;
import java.util.function.Function;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.DefaultErrorStrategy;
import org.antlr.v4.runtime.InputMismatchException;
import org.antlr.v4.runtime.Lexer;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;

/** Stops at the first syntax error with a diagnostic, without recovery. */
public final class SyntaxErrors {
  private final DiagnosticCode code;
  private final Places places;

  /**
   * @param code the code of all errors
   */
  public SyntaxErrors(DiagnosticCode code, Places places) {
    this.code = code;
    this.places = places;
  }

  /** Makes characters that begin no token diagnostics. */
  public void listen(Lexer lexer) {
    lexer.removeErrorListeners();
    lexer.addErrorListener(new Characters());
  }

  /**
   * Makes unexpected tokens diagnostics.
   *
   * @param names the descriptions of expected tokens in messages
   */
  public void listen(Parser parser, Function<List<Integer>, List<String>> names) {
    parser.removeErrorListeners();
    parser.setErrorHandler(new Tokens(names));
  }

  private PartitaException error(String where, String expected, String found, String remedy) {
    return new PartitaException(code, where, expected, found, remedy);
  }

  private final class Tokens extends DefaultErrorStrategy {
    private final Function<List<Integer>, List<String>> names;

    Tokens(Function<List<Integer>, List<String>> names) {
      this.names = names;
    }

    @Override
    public void reportError(Parser parser, RecognitionException error) {
      List<String> expected = names.apply(error.getExpectedTokens().toList());
      Token token = error.getOffendingToken();
      throw error(
          places.of(token),
          String.join(", ", expected.stream().distinct().sorted().toList()),
          Places.text(token),
          "");
    }

    @Override
    public Token recoverInline(Parser parser) {
      reportError(parser, new InputMismatchException(parser));
      throw new AssertionError("reporting throws");
    }

    @Override
    public void sync(Parser parser) {}
  }

  private final class Characters extends BaseErrorListener {
    @Override
    public void syntaxError(
        Recognizer<?, ?> lexer,
        Object symbol,
        int line,
        int column,
        String message,
        RecognitionException error) {
      String found = message.replaceFirst("^token recognition error at: ", "");
      throw error(
          places.of(line, column),
          "a name, a number, a quoted string, or punctuation",
          found,
          found.startsWith("'\"") ? "close the string on its first line" : "");
    }
  }
}
