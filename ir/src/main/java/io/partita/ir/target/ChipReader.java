package io.partita.ir.target;

import io.partita.ir.target.TargetSyntaxParser.ChipContext;
import io.partita.ir.target.TargetSyntaxParser.DmaContext;
import io.partita.ir.target.TargetSyntaxParser.KernelContext;
import io.partita.ir.target.TargetSyntaxParser.MemoryContext;
import io.partita.ir.type.ElementType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.antlr.v4.runtime.Token;

/**
 * Parses one chip. A chip that is {@code like} another inherits its parts, and figures that it does
 * not override.
 */
final class ChipReader {
  private final TargetParser parser;
  private final String path;
  private final SequencedMap<String, Memory> memories = new LinkedHashMap<>();
  private final SequencedMap<String, DmaChannel> channels = new LinkedHashMap<>();
  private final SequencedMap<String, KernelThroughput> kernels = new LinkedHashMap<>();
  private final SequencedMap<String, FunctionThroughput> functions = new LinkedHashMap<>();
  private final Set<String> written = new HashSet<>();
  private Figures figures = Figures.NONE;

  ChipReader(TargetParser parser, String path) {
    this.parser = parser;
    this.path = path;
  }

  void copy(ChipKind chip) {
    figures = chip.figures();
    chip.memories().forEach(each -> memories.put(each.name(), each));
    chip.channels().forEach(each -> channels.put(each.name(), each));
    chip.kernels().forEach(each -> kernels.put(name(each.kernel(), each.element()), each));
    chip.functions().forEach(each -> functions.put(each.function(), each));
  }

  ChipKind read(String name, ChipContext tree) {
    Figures own = merge(figures, parser.figures(tree.setting(), path));
    tree.memory().forEach(this::memory);
    tree.dma().forEach(this::channel);
    tree.kernel().forEach(this::kernel);
    return new ChipKind(
        name,
        own,
        new ArrayList<>(memories.values()),
        new ArrayList<>(channels.values()),
        new ArrayList<>(kernels.values()),
        new ArrayList<>(functions.values()));
  }

  private static Figures merge(Figures copied, Figures own) {
    SequencedMap<String, Figure> all = new LinkedHashMap<>(copied.byName());
    all.putAll(own.byName());
    return new Figures(all);
  }

  private void memory(MemoryContext tree) {
    Token word = tree.WORD().getSymbol();
    String part = part("memory " + word.getText(), word);
    Figures own = parser.figures(tree.block().setting(), part);
    memories.merge(
        word.getText(),
        new Memory(word.getText(), own),
        (copied, is) -> new Memory(is.name(), merge(copied.figures(), own)));
  }

  private void channel(DmaContext tree) {
    boolean bothWays = tree.direction().getText().equals("<->");
    Token word = tree.WORD(0).getSymbol();
    DmaChannel bare =
        new DmaChannel(word.getText(), tree.WORD(1).getText(), bothWays, Figures.NONE);
    String part = part("dma " + bare.name(), word);
    Figures own = parser.figures(tree.block().setting(), part);
    channels.merge(
        bare.name(),
        new DmaChannel(bare.from(), bare.to(), bothWays, own),
        (copied, is) -> new DmaChannel(is.from(), is.to(), bothWays, merge(copied.figures(), own)));
  }

  private void kernel(KernelContext tree) {
    Token word = tree.WORD(0).getSymbol();
    KernelClass kernel =
        KernelClass.of(word.getText())
            .orElseThrow(
                () ->
                    parser.undefined(
                        word,
                        Arrays.stream(KernelClass.values())
                            .map(KernelClass::text)
                            .collect(Collectors.joining(", "))));
    Token type = tree.WORD(1).getSymbol();
    if (FunctionThroughput.isName(type.getText())) {
      function(tree, kernel, type);
      return;
    }
    ElementType element =
        ElementType.of(type.getText())
            .orElseThrow(() -> parser.undefined(type, "an element type such as i8 or f32"));
    String part = part("kernel " + name(kernel, element), word);
    Figures own = parser.figures(tree.block().setting(), part);
    kernels.merge(
        name(kernel, element),
        new KernelThroughput(kernel, element, own),
        (copied, is) -> new KernelThroughput(kernel, element, merge(copied.figures(), own)));
  }

  private void function(KernelContext tree, KernelClass kernel, Token word) {
    String name = word.getText();
    String part = part("kernel " + kernel.text() + " " + name, word);
    Figures own = parser.figures(tree.block().setting(), part);
    functions.merge(
        name,
        new FunctionThroughput(kernel, name, own),
        (copied, is) -> new FunctionThroughput(kernel, name, merge(copied.figures(), own)));
  }

  private static String name(KernelClass kernel, ElementType element) {
    return kernel.text() + " " + element;
  }

  private String part(String name, Token token) {
    if (!written.add(name)) {
      throw parser.duplicate(token);
    }
    parser.place(path + ", " + name, token);
    return path + ", " + name;
  }
}
