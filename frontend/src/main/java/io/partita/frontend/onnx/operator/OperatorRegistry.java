package io.partita.frontend.onnx.operator;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * The importers of operators by domain and name, each with the first version of the operator set to
 * which it applies; it applies until the version of the next importer.
 */
public final class OperatorRegistry {
  /** The ONNX domain, which models also write as {@code ai.onnx}. */
  public static final String ONNX = "";

  public static final String MICROSOFT = "com.microsoft";

  /** An internal domain for operators of any domain without a registered importer. */
  private static final String ANY = "*";

  private record Key(String domain, String operator) {}

  private final Map<Key, TreeMap<Integer, OperatorImporter>> importers = new HashMap<>();

  /** Creates a registry of all supported operators. */
  public static OperatorRegistry complete() {
    OperatorRegistry registry = new OperatorRegistry();
    ElementwiseOperators.register(registry);
    QuantizedOperators.register(registry);
    MicrosoftOperators.register(registry);
    ActivationOperators.register(registry);
    MovementOperators.register(registry);
    ResizeOperators.register(registry);
    SelectionOperators.register(registry);
    RecurrentOperators.register(registry);
    IndexingOperators.register(registry);
    SourceOperators.register(registry);
    ReductionOperators.register(registry);
    ContractionOperators.register(registry);
    PoolingOperators.register(registry);
    NormalizationOperators.register(registry);
    AttentionOperators.register(registry);
    LossOperators.register(registry);
    IntegerOperators.register(registry);
    FourierOperators.register(registry);
    GridSampleOperators.register(registry);
    PulpOperators.register(registry);
    return registry;
  }

  /** Registers an importer of an operator from version {@code since}. */
  public OperatorRegistry add(
      String domain, String operator, int since, OperatorImporter importer) {
    OperatorImporter before =
        importers
            .computeIfAbsent(new Key(domain, operator), key -> new TreeMap<>())
            .put(since, importer);
    if (before != null) {
      throw new IllegalStateException(operator + " since " + since + " is registered twice");
    }
    return this;
  }

  /** Registers an operator of the ONNX domain in all its versions. */
  public OperatorRegistry add(String operator, OperatorImporter importer) {
    return add(ONNX, operator, 1, importer);
  }

  /** Registers an operator that files have in various domains with the same meaning. */
  public OperatorRegistry addInAnyDomain(String operator, OperatorImporter importer) {
    return add(ANY, operator, 1, importer);
  }

  public Optional<OperatorImporter> find(String domain, String operator, int version) {
    TreeMap<Integer, OperatorImporter> versions = versions(domain, operator);
    return versions == null || versions.floorEntry(version) == null
        ? Optional.empty()
        : Optional.of(versions.floorEntry(version).getValue());
  }

  /** Returns the first version of the operator set with the operator, if known. */
  public OptionalInt since(String domain, String operator) {
    TreeMap<Integer, OperatorImporter> versions = versions(domain, operator);
    return versions == null ? OptionalInt.empty() : OptionalInt.of(versions.firstKey());
  }

  private TreeMap<Integer, OperatorImporter> versions(String domain, String operator) {
    TreeMap<Integer, OperatorImporter> versions = importers.get(new Key(domain, operator));
    return versions != null ? versions : importers.get(new Key(ANY, operator));
  }
}
