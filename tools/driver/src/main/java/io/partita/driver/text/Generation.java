package io.partita.driver.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Text that a model has generated.
 *
 * @param tokens the prompt's tokens and the added ones; a stop token isn't among them
 * @param added the number of added tokens
 * @param text the text of the added tokens
 * @param end why it ended
 * @param firstSeconds from the start to the first token, or to the end if there is none
 * @param seconds from the start to the end
 */
public record Generation(
    List<Integer> tokens, int added, String text, End end, double firstSeconds, double seconds) {
  /** Why a generation ended. */
  public enum End {
    /** The requested number of tokens was added. */
    LENGTH,
    /** The model chose a stop token. */
    STOP,
    /** The KV cache is full. */
    CACHE
  }

  /**
   * Continues a prompt.
   *
   * @param prompt at least one token, and at most the model's context
   * @param count the number of tokens to add
   * @param stops ends when one of these tokens is chosen
   * @param listener receives the text as soon as its characters are complete
   */
  public static Generation of(
      LanguageModel model,
      Tokens tokens,
      List<Integer> prompt,
      int count,
      Sampler sampler,
      Set<Integer> stops,
      Consumer<String> listener) {
    List<Integer> sequence = new ArrayList<>(prompt);
    TextStream stream = new TextStream(tokens, prompt);
    StringBuilder text = new StringBuilder();
    Consumer<String> printing =
        piece -> {
          text.append(piece);
          listener.accept(piece);
        };
    long start = System.nanoTime();
    long first = 0;
    End end = End.LENGTH;
    for (int i = 0; i < count && end == End.LENGTH; i++) {
      if (model.isDecoder() && sequence.size() > model.context()) {
        end = End.CACHE;
        break;
      }
      int next = sampler.choose(model.next(sequence));
      first = i == 0 ? System.nanoTime() : first;
      if (stops.contains(next)) {
        end = End.STOP;
      } else {
        sequence.add(next);
        printing.accept(stream.add(next));
      }
    }
    printing.accept(stream.end());
    long ended = System.nanoTime();
    return new Generation(
        List.copyOf(sequence),
        sequence.size() - prompt.size(),
        text.toString(),
        end,
        (Math.max(start, first) - start) / 1e9,
        (ended - start) / 1e9);
  }
}
