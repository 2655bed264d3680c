package io.partita.frontend.onnx.operator;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * The operators that can be imported: by domain and name, from which version of the domain's
 * operator set on each importer holds (until the next one's version).
 */
public final class OperatorRegistry {
  /** ONNX's own domain, which models also write as {@code ai.onnx}. */
  public static final String ONNX = "";

  public static final String MICROSOFT = "com.microsoft";

  /** Stands for all domains in which no importer is registered; no file has it. */
  private static final String ANY = "*";

  private record Key(String domain, String operator) {}

  private final Map<Key, TreeMap<Integer, OperatorImporter>> importers = new HashMap<>();

  /** A registry of all operators that Partita knows. */
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

  /** {@code importer} holds for {@code operator} from version {@code since} on. */
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

  /** An operator of ONNX's own domain, in all its versions. */
  public OperatorRegistry add(String operator, OperatorImporter importer) {
    return add(ONNX, operator, 1, importer);
  }

  /**
   * An operator that files put into one domain or another, and that no domain means differently.
   */
  public OperatorRegistry addInAnyDomain(String operator, OperatorImporter importer) {
    return add(ANY, operator, 1, importer);
  }

  public Optional<OperatorImporter> find(String domain, String operator, int version) {
    TreeMap<Integer, OperatorImporter> versions = versions(domain, operator);
    return versions == null || versions.floorEntry(version) == null
        ? Optional.empty()
        : Optional.of(versions.floorEntry(version).getValue());
  }

  /** The first version of the domain's operator set that has the operator, where it's known. */
  public OptionalInt since(String domain, String operator) {
    TreeMap<Integer, OperatorImporter> versions = versions(domain, operator);
    return versions == null ? OptionalInt.empty() : OptionalInt.of(versions.firstKey());
  }

  private TreeMap<Integer, OperatorImporter> versions(String domain, String operator) {
    TreeMap<Integer, OperatorImporter> versions = importers.get(new Key(domain, operator));
    return versions != null ? versions : importers.get(new Key(ANY, operator));
  }
}
