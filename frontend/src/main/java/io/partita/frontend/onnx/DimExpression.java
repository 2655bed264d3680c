package io.partita.frontend.onnx;

import io.partita.ir.type.Dim;
import java.util.Optional;

/**
 * Parses the name that an exporter gives a dimension: a symbol, or an expression of symbols such as
 * {@code past_sequence_length + 1}.
 */
final class DimExpression {
  private final String text;
  private int at;
  private boolean failed;

  private DimExpression(String text) {
    this.text = text;
  }

  /** Parses a polynomial; empty for other text. */
  static Optional<Dim> parse(String text) {
    // Products of sums grow exponentially; exporters write only a few.
    if (text.length() > 200 || text.chars().filter(letter -> letter == '(').count() > 4) {
      return Optional.empty();
    }
    DimExpression parser = new DimExpression(text);
    try {
      Dim sum = parser.sum(0);
      parser.skipSpaces();
      return parser.failed || parser.at < text.length() ? Optional.empty() : Optional.of(sum);
    } catch (ArithmeticException | NumberFormatException overflow) {
      return Optional.empty();
    }
  }

  /**
   * Returns the name as a symbol of letters, digits and underscores that does not begin with a
   * digit.
   */
  static String symbol(String name) {
    String clean = name.strip().replaceAll("[^A-Za-z0-9_]", "_");
    return clean.isEmpty() || Character.isDigit(clean.charAt(0)) ? "_" + clean : clean;
  }

  private void skipSpaces() {
    while (at < text.length() && Character.isWhitespace(text.charAt(at))) {
      at++;
    }
  }

  private boolean accept(char wanted) {
    skipSpaces();
    if (at < text.length() && text.charAt(at) == wanted) {
      at++;
      return true;
    }
    return false;
  }

  private Dim sum(int depth) {
    Dim sum = accept('-') ? Dim.ZERO.minus(product(depth)) : product(depth);
    while (!failed) {
      if (accept('+')) {
        sum = sum.plus(product(depth));
      } else if (accept('-')) {
        sum = sum.minus(product(depth));
      } else {
        break;
      }
    }
    return sum;
  }

  private Dim product(int depth) {
    Dim product = factor(depth);
    while (!failed && accept('*')) {
      product = product.times(factor(depth));
    }
    return product;
  }

  private Dim factor(int depth) {
    if (accept('(') && depth < 20) {
      Dim inner = sum(depth + 1);
      failed |= !accept(')');
      return inner;
    }
    skipSpaces();
    int from = at;
    while (at < text.length() && (isPartOfName(text.charAt(at)) || isHyphen())) {
      at++;
    }
    String word = text.substring(from, at);
    if (word.matches("[0-9]+")) {
      return Dim.of(Long.parseLong(word));
    }
    if (word.isEmpty() || Character.isDigit(word.charAt(0))) {
      failed = true;
      return Dim.ONE;
    }
    return Dim.symbol(symbol(word));
  }

  /**
   * Parses a difference: {@code batch-size} is one name, but {@code s0 - 1} and {@code s0-1} are
   * differences.
   */
  private boolean isHyphen() {
    return text.charAt(at) == '-'
        && at > 0
        && at + 1 < text.length()
        && Character.isLetter(text.charAt(at - 1))
        && Character.isLetter(text.charAt(at + 1));
  }

  private static boolean isPartOfName(char letter) {
    return letter < 128 && Character.isLetterOrDigit(letter) || "_.:".indexOf(letter) >= 0;
  }
}
