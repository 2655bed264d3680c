package io.partita.ir.target;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.UnaryOperator;

/** The figures of one part of a target by name, in source order. */
public record Figures(SequencedMap<String, Figure> byName) {
  public static final Figures NONE = new Figures(new LinkedHashMap<>());

  public Figures {
    byName = Collections.unmodifiableSequencedMap(new LinkedHashMap<>(byName));
  }

  public Optional<Figure> find(String name) {
    return Optional.ofNullable(byName.get(name));
  }

  /** Returns a figure in the base unit; the verifier guarantees that it exists. */
  double number(String name) {
    return require(name).quantity().value();
  }

  double number(String name, double otherwise) {
    Figure figure = byName.get(name);
    return figure == null ? otherwise : figure.quantity().value();
  }

  long whole(String name) {
    return (long) number(name);
  }

  String text(String name) {
    return require(name).text();
  }

  private Figure require(String name) {
    Figure figure = byName.get(name);
    if (figure == null) {
      throw new IllegalStateException("a part of a target without " + name);
    }
    return figure;
  }

  /** Multiplies a figure by a factor, if it exists. */
  Figures scaled(String name, double factor) {
    return find(name).map(figure -> with(name, figure.quantity().number() * factor)).orElse(this);
  }

  /** Replaces the number of a figure, in its unit, if it exists. */
  Figures with(String name, double number) {
    SequencedMap<String, Figure> changed = new LinkedHashMap<>(byName);
    changed.computeIfPresent(
        name,
        (key, figure) ->
            new Figure(new Quantity(number, figure.quantity().unit()), figure.origin()));
    return new Figures(changed);
  }

  Figures map(UnaryOperator<Figure> change) {
    SequencedMap<String, Figure> changed = new LinkedHashMap<>();
    for (Map.Entry<String, Figure> entry : byName.entrySet()) {
      changed.put(entry.getKey(), change.apply(entry.getValue()));
    }
    return new Figures(changed);
  }
}
