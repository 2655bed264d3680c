package io.partita.ir.target;

import io.partita.ir.diagnostic.PartitaException;
import java.util.ArrayList;
import java.util.List;
import org.antlr.v4.runtime.BaseErrorListener;
import org.antlr.v4.runtime.DefaultErrorStrategy;
import org.antlr.v4.runtime.InputMismatchException;
import org.antlr.v4.runtime.Parser;
import org.antlr.v4.runtime.RecognitionException;
import org.antlr.v4.runtime.Recognizer;
import org.antlr.v4.runtime.Token;

/** Stops at the first syntax error with a diagnostic; nothing is guessed. */
final class TargetSyntaxErrors extends DefaultErrorStrategy {
  private final TargetPlaces places;

  TargetSyntaxErrors(TargetPlaces places) {
    this.places = places;
  }

  @Override
  public void reportError(Parser parser, RecognitionException error) {
    List<String> expected = new ArrayList<>();
    for (int type : error.getExpectedTokens().toList()) {
      expected.add(describe(type));
    }
    Token token = error.getOffendingToken();
    boolean end = token.getType() == Token.EOF;
    throw new PartitaException(
        TargetCode.SYNTAX,
        places.at(token),
        String.join(", ", expected.stream().distinct().sorted().toList()),
        end ? "the end of the text" : token.getText(),
        "");
  }

  private static String describe(int type) {
    return switch (type) {
      case Token.EOF -> "the end of the text";
      case TargetSyntaxParser.WORD -> "a name";
      case TargetSyntaxParser.INTEGER, TargetSyntaxParser.DECIMAL, TargetSyntaxParser.HEXADECIMAL ->
          "a number";
      case TargetSyntaxParser.STRING -> "a text in quotes";
      default -> TargetSyntaxParser.VOCABULARY.getDisplayName(type);
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
    private final TargetPlaces places;

    Characters(TargetPlaces places) {
      this.places = places;
    }

    @Override
    public void syntaxError(
        Recognizer<?, ?> lexer,
        Object symbol,
        int line,
        int column,
        String message,
        RecognitionException error) {
      throw new PartitaException(
          TargetCode.SYNTAX,
          places.at(line, column),
          "a name, a number, a text in quotes, or punctuation",
          message.replaceFirst("^token recognition error at: ", ""),
          "");
    }
  }
}
