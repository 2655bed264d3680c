package io.partita.ir.text;

import io.partita.ir.type.Dim;
import io.partita.ir.type.ElementType;
import io.partita.ir.type.Shape;
import io.partita.ir.type.TensorType;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import org.antlr.v4.runtime.ParserRuleContext;
import org.antlr.v4.runtime.Token;
import org.antlr.v4.runtime.tree.ParseTree;

/** Converts syntax trees to types and dimensions. */
final class TypeReader {
  /** The largest rank, that of NumPy. */
  static final int HIGHEST_RANK = 64;

  private static final int MAX_DIGITS = 20;

  private final Locator locator;

  TypeReader(Locator locator) {
    this.locator = locator;
  }

  TensorType type(PirSyntaxParser.TypeContext tree) {
    ElementType element = element(tree.word());
    List<Dim> dims = dims(tree.extent().stream().map(PirSyntaxParser.ExtentContext::dim).toList());
    if (dims.size() > HIGHEST_RANK) {
      throw locator.error(
          TextCode.LIMIT, tree.start, "rank " + HIGHEST_RANK + " or less", "" + dims.size(), "");
    }
    for (Dim dim : dims) {
      if (dim.isStatic() && dim.value() < 0) {
        throw locator.error(TextCode.TYPE, tree.start, "extents of 0 or more", dim.toString(), "");
      }
    }
    return new TensorType(element, new Shape(dims));
  }

  ElementType element(PirSyntaxParser.WordContext tree) {
    return ElementType.of(tree.getText())
        .orElseThrow(
            () ->
                locator.error(
                    TextCode.TYPE,
                    tree.start,
                    "an element type",
                    "use one of "
                        + List.of(ElementType.values()).toString().replaceAll("[\\[\\]]", "")));
  }

  List<Dim> dims(PirSyntaxParser.DimsContext tree) {
    return dims(tree.dim());
  }

  private List<Dim> dims(List<PirSyntaxParser.DimContext> trees) {
    List<Dim> dims = new ArrayList<>();
    for (PirSyntaxParser.DimContext dim : trees) {
      try {
        dims.add(dim(dim));
      } catch (ArithmeticException e) {
        throw tooLarge(dim);
      }
    }
    return dims;
  }

  private Dim dim(PirSyntaxParser.DimContext tree) {
    Dim sum = Dim.ZERO;
    boolean negative = false;
    for (ParseTree part : tree.children) {
      if (part instanceof PirSyntaxParser.TermContext term) {
        sum = sum.plus(term(term, negative));
      } else {
        negative = part.getText().equals("-");
      }
    }
    return sum;
  }

  /** The sign belongs to the coefficient, since -2^63 has no positive counterpart. */
  private Dim term(PirSyntaxParser.TermContext tree, boolean negative) {
    BigInteger coefficient = BigInteger.valueOf(negative ? -1 : 1);
    Dim symbols = Dim.ONE;
    for (PirSyntaxParser.FactorContext factor : tree.factor()) {
      Token token = factor.start;
      if (token.getType() == PirSyntaxParser.INTEGER) {
        if (token.getText().length() > MAX_DIGITS || coefficient.bitLength() > 64) {
          throw tooLarge(factor);
        }
        coefficient = coefficient.multiply(new BigInteger(token.getText()));
      } else {
        symbols = symbols.times(Dim.symbol(symbol(token)));
      }
    }
    return Dim.of(coefficient.longValueExact()).times(symbols);
  }

  private String symbol(Token token) {
    if (token.getType() != PirSyntaxParser.STRING) {
      return token.getText();
    }
    String name = string(token);
    if (name.isBlank()) {
      throw locator.error(TextCode.SYNTAX, token, "a symbol with a visible name", "");
    }
    return name;
  }

  private RuntimeException tooLarge(ParserRuleContext tree) {
    return locator.error(
        TextCode.LIMIT,
        tree.start,
        "64-bit coefficients, and at most 1000 terms with at most 64 symbols each",
        "a larger polynomial",
        "");
  }

  /** Returns the text of a string. */
  String string(Token token) {
    return escaped(token, QuotedText.read(token.getText()));
  }

  /** Returns the name of a value or a graph, without its first character. */
  String name(Token token) {
    return escaped(token, QuotedText.readName(token.getText()));
  }

  private String escaped(Token token, String text) {
    if (text == null) {
      throw locator.error(
          TextCode.SYNTAX, token, "one of the escapes \\\" \\\\ \\n \\r \\t \\u{2028}", "");
    }
    return text;
  }
}
